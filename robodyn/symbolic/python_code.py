"""A program as Python code: for a few dozen evaluations, of which compiling would take longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import evaluate, scalars_of
from robodyn.symbolic.graph import Program

#: How operations between two operands are written.
_BETWEEN = {
    ops.MUL: "*", ops.ADD: "+", ops.DIV: "/", ops.LESS: "<", ops.LESS_EQUAL: "<=", ops.SIDES: ",",
}  # fmt: skip


class PythonCode:
    """The values of a program in double precision, as `evaluate` gives them.

    The first call looks at one node after the other, later ones run the code that is then written.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._called = False

    def __call__(self, *arrays: ArrayLike) -> tuple[NDArray[Any], ...]:
        """Outputs, shape (..., *port.shape), of one array an input; leading axes broadcast."""
        if not self._called:
            self._called = True
            return evaluate(self.program, *arrays)
        scalars, batch = scalars_of(self.program, arrays)
        constants, varying = self._results
        flat = np.broadcast_to(constants, (*batch, len(constants))).copy()
        for k, value in zip(varying, self._compute(scalars), strict=True):
            flat[..., k] = value
        ends = np.cumsum([port.size for port in self.program.outputs])[:-1]
        return tuple(
            values.reshape((*batch, *port.shape))
            for port, values in zip(
                self.program.outputs, np.split(flat, ends, axis=-1), strict=True
            )
        )

    @cached_property
    def _results(self) -> tuple[NDArray[Any], list[int]]:
        """All results, where they are constant, and the indices of those that are not."""
        graph, results = self.program.graph, self.program.results
        constants = np.zeros(len(results))
        varying = []
        for k, edge in enumerate(results):
            if graph.op[edge >> 1] == ops.CONST:
                value = graph.value[edge >> 1]
                constants[k] = -value if edge & 1 else value
            else:
                varying.append(k)
        return constants, varying

    @cached_property
    def _compute(self) -> Callable[[list[Any]], list[Any]]:
        """From the scalars of the inputs to the results that are not constant."""
        graph = self.program.graph
        lines = ["def compute(x):"]
        for node in self.program.live():
            op, a, b = graph.op[node], graph.a[node], graph.b[node]
            if op == ops.CONST:
                value = f"number({float(graph.value[node])!r})"
            elif op == ops.INPUT:
                value = f"x[{a}]"
            elif op in _BETWEEN:
                value = f"{_edge(a)} {_BETWEEN[op]} {_edge(b)}"
            elif op == ops.SELECT:
                value = f"where({_edge(a)}, *{_edge(b)})[()]"
            else:
                value = f"{ops.FUNCTIONS[op]}({', '.join(map(_edge, graph.operands(node)))})"
            lines.append(f"    v{node} = {value}")
        results = [self.program.results[k] for k in self._results[1]]
        lines.append(f"    return [{', '.join(map(_edge, results))}]")
        names: dict[str, Any] = {"number": np.float64, "inf": np.inf, "nan": np.nan}
        names |= {name: getattr(np, name) for name in (*ops.FUNCTIONS.values(), "where")}
        exec("\n".join(lines), names)
        compute: Callable[[list[Any]], list[Any]] = names["compute"]
        return compute


def _edge(edge: int) -> str:
    return f"-v{edge >> 1}" if edge & 1 else f"v{edge >> 1}"
