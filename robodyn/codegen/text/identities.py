"""Sums of products for people: ``sin^2 + cos^2`` is one, and products that cancel are left out.

Machine code gets none of this: it would compute other last digits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Any

from robodyn.symbolic.graph import ADD, CONST, COS, INPUT, MUL, OF_TWO, SIN, Graph, Program
from robodyn.symbolic.scalar import OPERATIONS, Scalar, constant_in, edge_of

#: Largest number of factors that are looked at.
MOST = 12


def with_identities(program: Program) -> Program:
    """The program with sums of two products shortened, where they differ by squares alone."""
    old, graph = program.graph, Graph()
    graph.examples = old.examples
    values: dict[int, Any] = {}

    def at(edge: int) -> Any:
        return -values[edge >> 1] if edge & 1 else values[edge >> 1]

    try:
        for node in program.live():
            op, a, b = old.op[node], old.a[node], old.b[node]
            if op == CONST:
                values[node] = constant_in(graph, old.value[node])
            elif op == INPUT:
                values[node] = Scalar(graph, 2 * graph.node(INPUT, a))
            elif op == ADD:
                values[node] = _sum(graph, at(a), at(b))
            else:
                values[node] = (
                    OPERATIONS[op](at(a), at(b)) if op in OF_TWO else OPERATIONS[op](at(a))
                )
        edges = tuple(edge_of(graph, at(edge)) for edge in program.results)
    except (ZeroDivisionError, ValueError):  # what cancels is divided by: its results are no number
        return program
    return replace(program, graph=graph, results=edges)


def _sum(graph: Graph, x: Any, y: Any) -> Any:
    """``x + y``, shorter where that is the square of a length, or nothing."""
    if not (isinstance(x, Scalar) and isinstance(y, Scalar)):
        return x + y
    (sign, p), (other, q) = _factors(graph, edge_of(graph, x)), _factors(graph, edge_of(graph, y))
    common = p & q
    p, q = p - common, q - common
    if not p and not q and sign != other:
        return 0.0
    if sign == other and _is_square(p) and _is_square(q):
        (s,), (c,) = p, q
        if {graph.op[s], graph.op[c]} == {SIN, COS} and graph.a[s] == graph.a[c]:
            return reduce(
                mul, (Scalar(graph, 2 * node) for node in common.elements()), 1.0 - 2.0 * sign
            )
    return x + y


def _is_square(factors: Counter[int]) -> bool:
    return [*factors.values()] == [2]


def _factors(graph: Graph, edge: int) -> tuple[int, Counter[int]]:
    """Whether a product is negative, and its factors."""
    sign, found, waiting = 0, Counter[int](), [edge]
    while waiting:
        edge = waiting.pop()
        sign ^= edge & 1
        node = edge >> 1
        if graph.op[node] == MUL and len(waiting) + found.total() < MOST:
            waiting += [graph.a[node], graph.b[node]]
        else:
            found[node] += 1
    return sign, found
