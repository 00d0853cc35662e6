"""Programs whose sums are as short as a person's: like terms collected, constants gathered.

`Scalar` simplifies while equations are written down, two numbers at a time. What cancels across a
longer sum, such as ``z + cos q + 1 - z + 2``, shows only when the whole sum is there. So sums are
looked at once more, over the finished graph, and the shorter of both programs is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from robodyn.symbolic import ops
from robodyn.symbolic.graph import Graph, Program
from robodyn.symbolic.scalar import OPERATIONS, Number, Scalar, constant_in, edge_of
from robodyn.symbolic.sums import ONE, Products, ShorterSum, Sums

#: Programs with more nodes are left as they are: to look at them takes longer than it saves.
LARGEST = 2000
#: Programs with fewer nodes are tried in more ways.
SMALL = 400
#: Times that a program is gone through, as what was simplified may show what else can be.
ROUNDS = 4

Cost = Callable[[Program], float]


def simplified(program: Program, cost: Cost) -> Program:
    """The program with shorter sums, or itself where these do not cost less.

    cost: What a program costs.
    """
    size = len(program.live())
    if size > LARGEST:
        return program
    best, least = program, cost(program)
    for eager in (False, True) if size <= SMALL else (False,):
        current = best
        for _ in range(ROUNDS if size <= SMALL else 1):
            following = _collected(current, eager)
            if following is None:
                break
            current, total = following, cost(following)
            if total < least:
                best, least = current, total
    return best


def _collected(program: Program, eager: bool) -> Program | None:
    """The program with like terms collected; none where there are none."""
    sums = Sums(program)
    found = {node: x for node in sums.roots() if (x := sums.shorter(node, eager)) is not None}
    try:
        return _Rewriting(program, sums, found).program() if found else None
    except (ZeroDivisionError, ValueError):  # what cancels is divided by: its results are no number
        return None


class _Rewriting:
    """A program written down again, with sums that are shorter.

    found: Which sums get shorter, and how.
    """

    def __init__(self, program: Program, sums: Sums, found: dict[int, ShorterSum]) -> None:
        self._program, self._sums, self._found = program, sums, found
        self._old, self._graph = program.graph, Graph()
        self._graph.examples = program.graph.examples
        self._value: dict[int, Any] = {}

    def program(self) -> Program:
        """The new program."""
        old = self._old
        for node in self._sums.live:
            self._value[node] = self._number(node, old.op[node], old.a[node], old.b[node])
        edges = tuple(edge_of(self._graph, self._at(edge)) for edge in self._program.results)
        return replace(self._program, graph=self._graph, results=edges)

    def _at(self, edge: int) -> Any:
        x = self._value[edge >> 1]
        return -x if edge & 1 else x

    def _number(self, node: int, op: int, a: int, b: int) -> Any:
        if op == ops.ADD:
            how = self._found.get(node)
            if how is not None:
                return _Writing(self._sums, how, self._at).sum(node, 1.0)
        if op == ops.CONST:
            return constant_in(self._graph, self._old.value[node])
        if op == ops.INPUT:
            return Scalar(self._graph, 2 * self._graph.node(ops.INPUT, a))
        x = self._at(a)
        return OPERATIONS[op](x, self._at(b)) if op in ops.OF_TWO else OPERATIONS[op](x)


class _Writing:
    """A sum as it is written down: in the order that it had, but for terms that are collected.

    at: Number of an edge.
    """

    def __init__(self, sums: Sums, how: ShorterSum, at: Callable[[int], Number]) -> None:
        self._sums, self._how, self._at = sums, how, at
        self._place = 0

    def sum(self, node: int, within: float) -> Number:
        """The sum of both operands, where the whole has a factor."""
        graph = self._sums.graph
        return self._operand(graph.a[node], within) + self._operand(graph.b[node], within)

    def _operand(self, edge: int, within: float) -> Number:
        factor, node, opens = self._sums.operand(edge, self._how.opened)
        if opens:
            return self.sum(node, within * factor) * factor
        k, self._place = self._place, self._place + 1
        if k in self._how.products:
            return self._product(self._how.products[k], within)
        total = self._how.factors.get(node)
        if total is None:
            return self._at(edge)
        if self._how.at[node] != k or not total:
            return 0.0
        factor = total / within
        return factor if node == ONE else self._at(2 * node) * factor

    def _product(self, products: Products | None, within: float) -> Number:
        """Products with a common factor as one, where there is their first."""
        if products is None:
            return 0.0
        factor, others = products
        rest = (self._at(edge) * (known / within) for known, edge in others)
        return reduce(add, rest) * self._at(2 * factor)
