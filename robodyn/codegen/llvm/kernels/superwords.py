"""Results of one state that go through the same sums of products, several in one vector.

Columns that solve linear systems with the same matrix do so: in ::

    x_kj = b_kj - sum over i of l_ki x_ij

all columns j have the factors ``l_ki``. Such values of several columns, one a lane, are a
*superword* [Larsen and Amarasinghe 2000]. What its lanes share and what they begin with (``l_ki``,
``b_kj``) are scalars, and no scalar is made of superwords: what both need is computed twice. A lane
that lacks one of the products keeps what it has. So lanes are rounded as scalars are, and one state
and many give the same numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from robodyn.codegen.llvm.kernels.sums import (
    ZERO,
    Lane,
    Sum,
    as_lane,
    opposite,
    products_in_sums,
    shared_factor,
)
from robodyn.codegen.llvm.target.target import Target
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Graph, Program

Lanes = tuple[Lane, ...]

#: Superwords are worthwhile where they leave less than this part of the operations.
WORTH = 0.9

#: Operations that passing scalars to superwords costs at least: loads wait for stores.
PASSING = 200


@dataclass(eq=False, slots=True)
class Superword:
    """Sums of products, one a lane.

    lanes: What each lane is: an edge, a constant, or anything where it is not used.
    start: What the sum of each lane begins with, ``None`` is zero.
    terms: What is added then, in order: the node that is a factor of all lanes, whether it is
        subtracted, and the other factors.
    """

    lanes: Lanes
    start: Lanes
    terms: list[tuple[int, bool, Superword]]

    def scalars(self) -> Iterator[int]:
        """Edges of the scalars that lanes begin with."""
        return (x for x in self.start if isinstance(x, int))


@dataclass(eq=False)
class Superwords:
    """All superwords of a program, operands first.

    place: Where nodes of results are: superword and lane.
    fused: Sums of the program that are one instruction with a product: edge of the product.
    """

    order: list[Superword]
    place: dict[int, tuple[Superword, int]]
    fused: dict[int, int]

    def scalars(self, program: Program) -> Iterator[int]:
        """Edges of the scalars that superwords and all other results need."""
        for word in self.order:
            yield from word.scalars()
            yield from (2 * factor for factor, _, _ in word.terms)
        yield from (edge for edge in program.results if edge >> 1 not in self.place)

    def operations(self, program: Program) -> int:
        """About how many there are: scalars, those stored, and two a product of a superword."""
        factors = [factor for word in self.order for factor, _, _ in word.terms]
        stored = sum(len(list(word.scalars())) for word in self.order) + len(set(factors))
        return len(program.live_for(self.scalars(program))) + stored + 2 * len(factors)


def superwords_for(program: Program, target: Target, dtype: str) -> Superwords:
    """Superwords of the code for one state, and the sums that are one instruction with a product.

    These are the same for one state and for many.
    """
    return superwords(program, target.lanes(dtype)) if target.fma else Superwords([], {}, {})


def superwords(program: Program, lanes: int) -> Superwords:
    """Superwords for the matrices among the results; none if that is no less work.

    lanes: Numbers in a vector.
    """
    rows = list(_rows(program, lanes)) if lanes > 1 else []
    if rows:
        fused = products_in_sums(program, last=True)
        finder, place = _Finder(program.graph, fused), dict[int, tuple[Superword, int]]()
        for row in rows:
            word, _ = finder.word(row)
            for k, edge in enumerate(row):
                if word.terms and isinstance(edge, int):
                    place[edge >> 1] = word, k
        found = Superwords(finder.order, place, fused)
        if found.operations(program) + PASSING < WORTH * len(program.live()):
            return found
    return Superwords([], {}, products_in_sums(program))


def _rows(program: Program, lanes: int) -> Iterator[Lanes]:
    """Rows of matrices, cut into vectors: all rows of the same columns one after another.

    Columns of constants are left out, and a number that is in several places is in the first.
    """
    graph, results, first = program.graph, program.results, 0
    matrices: dict[int, list[list[Lane]]] = {}
    for port in program.outputs:
        if len(port.shape) > 1 and port.size:
            width, count = port.shape[-1], port.size // port.shape[-1]
            for k in range(width):
                edges = results[first + k : first + port.size : width]
                if 2 * sum(graph.op[edge >> 1] > ops.INPUT for edge in edges) > count:
                    matrices.setdefault(count, []).append([as_lane(graph, x) for x in edges])
        first += port.size
    taken: set[int] = set()
    for count, columns in matrices.items():
        for k in range(count):
            for column in columns:
                x = column[k]
                if isinstance(x, int):
                    column[k] = None if x >> 1 in taken else x
                    taken.add(x >> 1)
        own = [column for column in columns if any(isinstance(x, int) for x in column)]
        for start in range(0, len(own), lanes):
            some = own[start : start + lanes]
            some += [[None] * count] * (lanes - len(some))
            rows = zip(*some, strict=True)
            yield from (row for row in rows if any(isinstance(x, int) for x in row))


class _Finder:
    """Makes superwords of sums, each once."""

    def __init__(self, graph: Graph, fused: Mapping[int, int]) -> None:
        self._graph, self._fused = graph, fused
        #: By what is asked for, and the last one that has an edge in a lane.
        self._exact: dict[Lanes, Superword] = {}
        self._with: dict[tuple[int, int], Superword] = {}
        self.order: list[Superword] = []

    def word(self, lanes: Lanes) -> tuple[Superword, bool]:
        """The superword with these lanes, and whether all of them have the other sign there."""
        waiting, parts = [lanes], dict[Lanes, tuple[Lanes, list[tuple[int, Lanes]]]]()
        while (found := self._known(lanes)) is None:
            wanted = waiting[-1]
            if wanted not in parts:
                parts[wanted] = self._parted(wanted)
            start, terms = parts[wanted]
            others = [self._known(x) for _, x in terms]
            if None in others:
                waiting.append(terms[others.index(None)][1])
                continue
            waiting.pop()
            if self._known(wanted) is None:
                pairs = ((f, known) for (f, _), known in zip(terms, others, strict=True) if known)
                self._make(wanted, start, [(f, negative, x) for f, (x, negative) in pairs])
        return found

    def _known(self, lanes: Lanes) -> tuple[Superword, bool] | None:
        exact = self._exact.get(lanes)
        if exact is not None:
            return exact, False
        for k, x in enumerate(lanes):
            word = self._with.get((x >> 1, k)) if isinstance(x, int) else None
            if word is not None:
                negative = word.lanes[k] != x
                pairs = zip(lanes, word.lanes, strict=True)
                if all(wanted is None or wanted == _signed(y, negative) for wanted, y in pairs):
                    return word, negative
        return None

    def _parted(self, lanes: Lanes) -> tuple[Lanes, list[tuple[int, Lanes]]]:
        """What the lanes begin with; factors of several lanes and the others, in order."""
        sums = [Sum(self._graph, self._fused, x) for x in lanes]
        terms: list[tuple[int, Lanes]] = []
        while (factor := self._factor(sums)) is not None:
            terms.append((factor, _others(sums, factor)))
            for each in sums:
                if factor in each.factors:
                    each.take(factor)
        return tuple(each.rest for each in sums), terms[::-1]

    def _factor(self, sums: Sequence[Sum]) -> int | None:
        """A factor that several lanes share, or that has one lane and others that are there."""
        shared = shared_factor(sums)
        if shared is not None:
            return shared
        alone = (factor for each in sums for factor in each.factors)
        return next((x for x in alone if self._known(_others(sums, x))), None)

    def _make(self, lanes: Lanes, start: Lanes, terms: list[tuple[int, bool, Superword]]) -> None:
        made = Superword(lanes, start, terms)
        self.order.append(made)
        self._exact[lanes] = made
        for k, x in enumerate(lanes):
            if isinstance(x, int):
                self._with[x >> 1, k] = made


def _others(sums: Sequence[Sum], factor: int) -> Lanes:
    """The other factor of a product in each lane."""
    return tuple(
        each.other(factor) if factor in each.factors else (ZERO if each.needed else None)
        for each in sums
    )


def _signed(x: Lane, negative: bool) -> Lane:
    """The contents of a lane, with the opposite sign if ``negative``."""
    return opposite(x) if negative and x is not None else x
