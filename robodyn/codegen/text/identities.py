"""Sums of products for people: like terms are added up, and ``sin^2 + cos^2`` is one.

Machine code gets none of this: it would compute other last digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial, reduce
from operator import mul
from typing import Any, NamedTuple

from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import results_of
from robodyn.symbolic.graph import Graph, Program
from robodyn.symbolic.scalar import OPERATIONS, Scalar, constant_in, edge_of, inputs

#: Largest number of factors of a product, and of terms of a sum, that are looked at.
MOST = 12


class _Product(NamedTuple):
    """Its number, its other factors with their powers, and where it is in the graph, if it is."""

    number: float
    factors: Counter[int]
    edge: int | None = None


def with_identities(program: Program) -> Program:
    """The program with sums shortened in which terms are alike but for their numbers."""
    graph = Graph()
    graph.examples = program.graph.examples
    symbols = inputs(graph, 0, sum(port.size for port in program.inputs))
    own = {ops.ADD: partial(_sum, graph), ops.MUL: partial(_product, graph)}
    try:
        found = results_of(program, symbols, partial(constant_in, graph), OPERATIONS | own)
    except (ZeroDivisionError, ValueError):  # what cancels is divided by: its results are no number
        return program
    shorter = replace(program, graph=graph, results=tuple(edge_of(graph, x) for x in found))
    return min(program, shorter, key=lambda x: len(x.live()))


def _product(graph: Graph, x: Any, y: Any) -> Any:
    """``x y`` with one number at most."""
    if not (isinstance(x, Scalar) or isinstance(y, Scalar)):
        return x * y
    left, right = (_factors(graph, edge_of(graph, factor)) for factor in (x, y))
    if abs(left.number) == 1.0 or abs(right.number) == 1.0:
        return x * y
    return _built(graph, [_Product(left.number * right.number, left.factors + right.factors)])


def _sum(graph: Graph, x: Any, y: Any) -> Any:
    """``x + y``, shorter where terms are alike or have factors in common."""
    if not (isinstance(x, Scalar) or isinstance(y, Scalar)):
        return x + y
    left, right = (_terms(graph, edge_of(graph, part)) for part in (x, y))
    if len(left) + len(right) > MOST:
        return x + y
    alike = _added(graph, [*left, *right])
    if len(alike) < len(left) + len(right):
        return _built(graph, alike)
    if len(left) == len(right) == 1 and (common := left[0].factors & right[0].factors):
        parts = (_built(graph, [_Product(n, p - common)]) for n, p, _ in (*left, *right))
        return _built(graph, [_Product(1.0, common)]) * _sum(graph, *parts)
    return x + y


def _terms(graph: Graph, edge: int) -> list[_Product]:
    """The products that a sum consists of."""
    node, sign = edge >> 1, edge & 1
    if graph.op[node] != ops.ADD:
        return [_factors(graph, edge)]
    parts = (graph.a[node] ^ sign, graph.b[node] ^ sign)
    return [term for part in parts for term in _terms(graph, part)]


def _factors(graph: Graph, edge: int) -> _Product:
    """The number of a product with its sign, and the other factors."""
    number, found, waiting, whole = 1.0, Counter[int](), [edge], edge
    while waiting:
        edge = waiting.pop()
        number = -number if edge & 1 else number
        node = edge >> 1
        if graph.op[node] == ops.MUL and len(waiting) + found.total() < MOST:
            waiting += [graph.a[node], graph.b[node]]
        elif graph.op[node] == ops.CONST and type(graph.value[node]) is float:
            number *= graph.value[node]
        else:
            found[node] += 1
    return _Product(number, found, whole)


def _added(graph: Graph, terms: Iterable[_Product]) -> list[_Product]:
    """Terms of which no two are alike, in order."""
    found: list[_Product] = []
    for term in terms:
        number, factors, _ = term
        for k, (other, known, _) in enumerate(found):
            if factors == known:
                found[k : k + 1] = [_Product(number + other, known)] if number + other else []
                break
            if number == other and (common := _pythagoras(graph, factors, known)) is not None:
                return _added(graph, [*found[:k], *found[k + 1 :], _Product(number, common)])
        else:
            found.append(term)
    return found


def _pythagoras(graph: Graph, p: Counter[int], q: Counter[int]) -> Counter[int] | None:
    """Common factors of products that differ by the squares of sine and cosine alone."""
    common = p & q
    p, q = p - common, q - common
    if not (list(p.values()) == list(q.values()) == [2]):
        return None
    (s,), (c,) = p, q
    both = {graph.op[s], graph.op[c]} == {ops.SIN, ops.COS} and graph.a[s] == graph.a[c]
    return common if both else None


def _built(graph: Graph, terms: Iterable[_Product]) -> Any:
    """A sum of products as a number of the graph."""
    return sum(map(partial(_one, graph), terms))


def _one(graph: Graph, term: _Product) -> Any:
    """A product as a number of the graph."""
    if term.edge is not None:
        return Scalar(graph, term.edge)
    factors = (Scalar(graph, 2 * node) for node in term.factors.elements())
    return reduce(mul, factors, term.number)
