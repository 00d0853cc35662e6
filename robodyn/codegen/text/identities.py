"""Sums of products for people: ``sin^2 + cos^2`` is one, and products that cancel are left out.

Machine code gets none of this: it would compute other last digits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial, reduce
from operator import mul
from typing import Any

from robodyn.symbolic.evaluate import results_of
from robodyn.symbolic.graph import ADD, COS, MUL, SIN, Graph, Program
from robodyn.symbolic.scalar import OPERATIONS, Scalar, constant_in, edge_of, inputs

#: Largest number of factors that are looked at.
MOST = 12


def with_identities(program: Program) -> Program:
    """The program with sums of two products shortened, where they differ by squares alone."""
    graph = Graph()
    graph.examples = program.graph.examples
    symbols = inputs(graph, 0, sum(port.size for port in program.inputs))
    operations = OPERATIONS | {ADD: partial(_sum, graph)}
    try:
        found = results_of(program, symbols, partial(constant_in, graph), operations)
    except (ZeroDivisionError, ValueError):  # what cancels is divided by: its results are no number
        return program
    return replace(program, graph=graph, results=tuple(edge_of(graph, x) for x in found))


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
