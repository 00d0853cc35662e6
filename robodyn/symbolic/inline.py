"""A program as a part of other equations."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.symbolic.graph import ADD, CONST, COS, DIV, INPUT, MUL, SIN, SQRT, Program
from robodyn.symbolic.scalar import Number, Scalar, constant_in, cos, sin, sqrt

__all__ = ["inline"]


def inline(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program whose scalar inputs are given numbers, known or symbolic."""
    graph = program.graph
    into = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    value: dict[int, Number] = {}

    def at(edge: int) -> Number:
        x = value[edge >> 1]
        return -x if edge & 1 else x

    functions = {SIN: sin, COS: cos, SQRT: sqrt}
    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == CONST:
            value[node] = constant_in(into, graph.value[node])
        elif op == INPUT:
            value[node] = numbers[a]
        elif op == ADD:
            value[node] = at(a) + at(b)
        elif op == MUL:
            value[node] = at(a) * at(b)
        elif op == DIV:
            value[node] = at(a) / at(b)
        else:
            value[node] = functions[op](at(a))
    return [at(edge) for edge in program.results]
