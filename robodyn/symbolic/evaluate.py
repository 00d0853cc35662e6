"""A slow, plain evaluation of a program: what every code generator is held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.symbolic.graph import ADD, CONST, COS, DIV, INPUT, MUL, SIN, SQRT, Program

__all__ = ["evaluate", "outputs_of", "scalars_of"]


def evaluate(program: Program, *arrays: ArrayLike, dtype: Any = None) -> tuple[NDArray[Any], ...]:
    """Values of a program's outputs, node by node in numpy.

    Parameters
    ----------
    program : Program
    *arrays : array_like, shape (..., *port.shape)
        One an input; leading axes broadcast.
    dtype : numpy dtype, optional
        Of the arithmetic: complex for the complex-step derivative, longdouble for reference values.

    Returns
    -------
    outputs : tuple of ndarray, shape (..., *port.shape)
    """
    scalars, batch = scalars_of(program, arrays, dtype)
    real = np.dtype(float if dtype is None else dtype).type
    graph = program.graph
    value: dict[int, Any] = {}

    def at(edge: int) -> Any:
        x = value[edge >> 1]
        return -x if edge & 1 else x

    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == MUL:
            value[node] = at(a) * at(b)
        elif op == ADD:
            value[node] = at(a) + at(b)
        elif op == CONST:
            value[node] = real(graph.value[node])
        elif op == INPUT:
            value[node] = scalars[a]
        elif op == DIV:
            value[node] = at(a) / at(b)
        else:
            value[node] = {SQRT: np.sqrt, SIN: np.sin, COS: np.cos}[op](at(a))
    return outputs_of(program, [at(edge) for edge in program.results], batch, real)


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
