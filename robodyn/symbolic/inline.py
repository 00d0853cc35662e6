"""A program as a part of other equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.symbolic.graph import CONST, INPUT, OF_TWO, Program
from robodyn.symbolic.scalar import OPERATIONS, Number, Scalar, constant_in


def inline(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program whose scalar inputs are given numbers, known or symbolic."""
    graph = program.graph
    into = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    value: dict[int, Any] = {}

    def at(edge: int) -> Any:
        x = value[edge >> 1]
        return -x if edge & 1 else x

    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == CONST:
            value[node] = constant_in(into, graph.value[node])
        elif op == INPUT:
            value[node] = numbers[a]
        else:
            operands = (at(a), at(b)) if op in OF_TWO else (at(a),)
            value[node] = OPERATIONS[op](*operands)
    return [at(edge) for edge in program.results]
