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

#: Largest number of nodes that Python compiles together: it takes some kilobytes for each of them.
PIECE = 4000


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
        nodes, lines, operands = self.program.live(), dict[int, str](), dict[int, list[int]]()
        for node in nodes:
            lines[node], operands[node] = self._written(node)
        results = [self.program.results[k] for k in self._results[1]]
        starts = range(0, len(nodes), PIECE)
        piece_of = {node: k // PIECE for k, node in enumerate(nodes)}
        passed = {edge >> 1 for edge in results}
        for node, used in operands.items():
            passed |= {x for x in used if piece_of[x] < piece_of[node]}
        names: dict[str, Any] = {"number": np.float64, "inf": np.inf, "nan": np.nan}
        names |= {name: getattr(np, name) for name in (*ops.FUNCTIONS.values(), "where")}
        pieces: list[Callable[[list[Any], dict[int, Any]], None]] = []
        for start in starts:
            own = nodes[start : start + PIECE]
            given = {x for node in own for x in operands[node] if piece_of[x] < start // PIECE}
            text = ["def piece(x, known):", *(f"    v{k} = known[{k}]" for k in sorted(given))]
            text += [f"    v{node} = {lines[node]}" for node in own]
            text += [f"    known[{node}] = v{node}" for node in own if node in passed]
            exec("\n".join(text), names)
            pieces.append(names["piece"])

        def compute(x: list[Any]) -> list[Any]:
            known = dict[int, Any]()
            for piece in pieces:
                piece(x, known)
            return [-known[e >> 1] if e & 1 else known[e >> 1] for e in results]

        return compute

    def _written(self, node: int) -> tuple[str, list[int]]:
        """The value of a node, and the nodes that it is computed from."""
        graph = self.program.graph
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == ops.CONST:
            return f"number({float(graph.value[node])!r})", []
        if op == ops.INPUT:
            return f"x[{a}]", []
        if op in _BETWEEN:
            return f"{_edge(a)} {_BETWEEN[op]} {_edge(b)}", [a >> 1, b >> 1]
        if op == ops.SELECT:
            return f"where({_edge(a)}, *{_edge(b)})[()]", [a >> 1, b >> 1]
        given = graph.operands(node)
        return f"{ops.FUNCTIONS[op]}({', '.join(map(_edge, given))})", [x >> 1 for x in given]


def _edge(edge: int) -> str:
    return f"-v{edge >> 1}" if edge & 1 else f"v{edge >> 1}"
