"""A slow, plain evaluation of a program: what every code generator is held against.

The same serves to make a program a part of other equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, mul, truediv
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import OPERATIONS, Number, Scalar, constant_in


def _less(x: Any, y: Any) -> Any:
    return np.real(x) < np.real(y)  # of numbers moved by a complex step


def _less_equal(x: Any, y: Any) -> Any:
    return np.real(x) <= np.real(y)


def _abs(x: Any) -> Any:
    return np.where(_less(x, 0.0), -x, x)[()] if np.iscomplexobj(x) else np.abs(x)


def _select(condition: Any, sides: Any) -> Any:
    return np.where(condition, *sides)[()]


_OPERATIONS: dict[int, Callable[..., Any]] = {
    op: getattr(np, name) for op, name in ops.FUNCTIONS.items()
} | {
    ops.ADD: add, ops.MUL: mul, ops.DIV: truediv, ops.LESS: _less, ops.LESS_EQUAL: _less_equal,
    ops.ABS: _abs, ops.SIDES: lambda a, b: (a, b), ops.SELECT: _select,
    ops.FLOOR: lambda x: np.floor(np.real(x)),
}  # fmt: skip


def evaluate(program: Program, *arrays: ArrayLike, dtype: Any = None) -> tuple[NDArray[Any], ...]:
    """Values of a program's outputs, node by node in numpy.

    *arrays (..., *port.shape): One an input; leading axes broadcast.
    dtype, optional: Of the arithmetic: complex for the complex-step derivative, longdouble for
        reference values.
    Returns outputs (..., *port.shape)
    """
    scalars, batch = scalars_of(program, arrays, dtype)
    real = np.dtype(float if dtype is None else dtype).type
    return outputs_of(program, results_of(program, scalars, real, _OPERATIONS), batch, real)


def results_of(
    program: Program,
    scalars: Sequence[Any],
    constant: Callable[[float], Any],
    operations: Mapping[int, Callable[..., Any]],
) -> list[Any]:
    """Numbers of all outputs, by any arithmetic: node by node.

    scalars: Numbers of all inputs.
    constant: What a constant is there.
    operations: By the numbers of operations of the graph.
    """
    graph = program.graph
    of_nodes, left, right = graph.op, graph.a, graph.b
    value: dict[int, Any] = {}
    for node in program.live():
        op, a = of_nodes[node], left[node]
        if op == ops.CONST:
            value[node] = constant(graph.value[node])
            continue
        if op == ops.INPUT:
            value[node] = scalars[a]
            continue
        x = -value[a >> 1] if a & 1 else value[a >> 1]
        if op in ops.OF_TWO:
            b = right[node]
            value[node] = operations[op](x, -value[b >> 1] if b & 1 else value[b >> 1])
        else:
            value[node] = operations[op](x)
    return [-value[edge >> 1] if edge & 1 else value[edge >> 1] for edge in program.results]


def scalars_of(
    program: Program, arrays: Sequence[ArrayLike], dtype: Any = None
) -> tuple[list[Any], tuple[int, ...]]:
    """Numbers of all inputs, each an array over the leading axes, and these axes."""
    scalars: list[Any] = []
    batches: list[tuple[int, ...]] = []
    for port, array in zip(program.inputs, arrays, strict=True):
        x = np.asarray(array, dtype)
        batches.append(x.shape[: x.ndim - len(port.shape)])
        flat = x.reshape((*batches[-1], port.size))
        scalars.extend(flat[..., k] if batches[-1] else flat[k] for k in range(port.size))
    return scalars, np.broadcast_shapes(*batches)


def outputs_of(
    program: Program, results: Sequence[Any], batch: tuple[int, ...], real: Any
) -> tuple[NDArray[Any], ...]:
    """Numbers of all outputs as the arrays that they belong to."""
    outputs, first = [], 0
    for port in program.outputs:
        values = results[first : first + port.size]
        first += port.size
        kind = np.result_type(*{x.dtype for x in values}) if values else real
        flat = np.empty((*batch, port.size), kind)
        for k, x in enumerate(values):
            flat[..., k] = x
        outputs.append(flat.reshape((*batch, *port.shape)))
    return tuple(outputs)


def inline(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program whose scalar inputs are given numbers, known or symbolic."""
    into = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    return results_of(program, numbers, lambda x: constant_in(into, x), OPERATIONS)
