"""Elimination of the speeds and multipliers of a closed linkage, from its leaves to its root.

Accelerations ``a`` and multipliers ``lam`` are the solution of one symmetric system::

    [ M  K^T ] [  a   ]   [ f  ]
    [ K   0  ] [ -lam ] = [ -k ]

Speeds are eliminated from the leaves of the tree to its root, which fills no zero of M
[Featherstone, table 6.3], and each row of K as soon as all speeds are gone that it is about, or
earlier where that fills less. What is left of a loop then concerns only the joints between it and
the root, and loops of different legs meet only there. Pivots of speeds are positive, those of rows
negative as long as the rows are independent. Rows that may depend on others are left to the end.

Speeds go from the leaves of the tree to its root. A row may go as soon as all speeds are gone that
it is about: then its pivot vanishes at singular postures alone. Where loops of many limbs have the
speeds of a platform or a crank in common, these rows would all wait for it, and fill one another.
Such a row goes earlier, as soon as the speeds of its limb have given it a large pivot wherever it
is tried. Each loop then is a block of its own, that leaves a mass on what the limbs have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic import ops
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar, dot, is_zero

#: Rows and products from which on another order is looked for, and the part of these products that
#: it may take.
FEW, MANY, LESS = 12, 600, 0.8

#: Part of a pivot that there must be of it where its row is eliminated early.
LARGE = 0.05

#: Number of postures at which pivots are evaluated.
TRIED = 4


def elimination_order(
    M: Matrix, rows: Sequence[Row], single: int
) -> tuple[list[int], frozenset[int]]:
    """After which speed each of the first rows is eliminated, and which of them are before others.

    single: How many of them are eliminated one by one.
    """
    of_rows = [{k for k, x in row.jacobian.items() if not is_zero(x)} for row in rows[:single]]
    usual = [min(row.jacobian, default=0) for row in rows[:single]]
    most = _cost(M, of_rows, usual) if single > FEW else 0
    if most < MANY:
        return usual, frozenset()
    systems = _numbers(M, rows[:single])
    if systems is None:
        return usual, frozenset()
    order = as_soon_as_possible(systems, len(M), of_rows)
    if _cost(M, of_rows, order) > LESS * most:
        return usual, frozenset()
    return order, frozenset(r for r, k in enumerate(order) if k > usual[r])


def as_soon_as_possible(
    A: FloatArray, nv: int, of_rows: Sequence[set[int]], large: float = LARGE
) -> list[int]:
    """The speed after which the pivot of each row is large in all systems, the last one first.

    A (n, nv + r, nv + r): Masses, with rows below and beside them.
    of_rows: Speeds that each row is about.
    large: Part of a pivot, as of `LARGE`.
    """
    A, K = A.copy(), A[:, nv:, :nv]
    order, waiting = [min(speeds, default=0) for speeds in of_rows], set(range(len(of_rows)))
    with np.errstate(all="ignore"):
        size = np.einsum("nij,nji->ni", K, np.linalg.pinv(A[:, :nv, :nv]) @ K.swapaxes(1, 2))
        for k in range(nv - 1, -1, -1):
            _eliminate_unknown(A, k)
            for r in sorted(waiting):
                part = np.nan_to_num(-A[:, nv + r, nv + r] / size[:, r], nan=0.0).min()
                if k == order[r] or (k in of_rows[r] and part > large):
                    order[r] = k
                    waiting.remove(r)
                    _eliminate_unknown(A, nv + r)
    return order


def _eliminate_unknown(A: FloatArray, p: int) -> None:
    """Eliminate an unknown of systems (n, size, size), in place."""
    column = A[:, p].copy()
    A -= column[:, :, None] * (column / column[:, p, None])[:, None, :]
    A[:, p], A[:, :, p] = 0.0, 0.0


def _sequence(nv: int, order: Sequence[int]) -> list[int]:
    """Speeds, and rows as nv and more, one after the other."""
    after: dict[int, list[int]] = {}
    for r, k in enumerate(order):
        after.setdefault(k, []).append(nv + r)
    return [x for k in range(nv - 1, -1, -1) for x in (k, *after.get(k, ()))]


def _cost(M: Matrix, of_rows: Sequence[set[int]], order: Sequence[int]) -> int:
    """Number of products for an order."""
    nv = len(M)
    beside: dict[int, set[int]] = {
        i: {j for j in range(nv) if j != i and not is_zero(M[max(i, j)][min(i, j)])}
        for i in range(nv)
    }
    for r, speeds in enumerate(of_rows):
        beside[nv + r] = {*speeds}
        for k in speeds:
            beside[k].add(nv + r)
    total = 0
    for p in _sequence(nv, order):
        others = beside.pop(p)
        total += len(others) * (len(others) + 1) // 2
        for i in others:
            beside[i] |= others
            beside[i] -= {i, p}
    return total


def _numbers(M: Matrix, rows: Sequence[Row]) -> FloatArray | None:
    """The systems (n, nv + r, nv + r) at some postures; `None` if no symbol is in them."""
    nv, size = len(M), len(M) + len(rows)
    entries = [(i, j, M[i][j]) for i in range(nv) for j in range(i + 1)]
    entries += [(nv + r, k, x) for r, row in enumerate(rows) for k, x in row.jacobian.items()]
    A = np.zeros((TRIED, size, size))
    symbols = [(i, j, x) for i, j, x in entries if isinstance(x, Scalar)]
    if not symbols:
        return None
    for i, j, x in entries:
        if not isinstance(x, Scalar):
            A[:, i, j] = A[:, j, i] = float(x)
    graph = symbols[0][2].graph
    places = (a for op, a in zip(graph.op, graph.a, strict=True) if op == ops.INPUT)
    count = 1 + max(places, default=0)
    ports = (Port("x", (count,)),), (Port("entries", (len(symbols),)),)
    program = Program("entries", *ports, graph, tuple(x.edge for _, _, x in symbols))
    k, n = np.arange(1, count + 1), np.arange(TRIED)[:, None]
    tried = 0.9 * np.sin(1.7 * k + 2.3 * n)
    for index, example in graph.examples.items():
        if index < count:
            tried[:, index] = np.resize(example, TRIED)
    with np.errstate(all="ignore"):
        (values,) = evaluate(program, tried)
    for (i, j, _), x in zip(symbols, values.T, strict=True):
        A[:, i, j] = A[:, j, i] = x
    return A


#: How much larger a pivot has to be of a row that is eliminated before some of its speeds, beside
#: what these would add to it.
STRICT = 1e5

#: Upper half of a symmetric matrix without its zeros: the entries of each row by column.
Entries = list[dict[int, Number]]

#: Of a matrix, the right side, and the diagonal as it was.
SolveLast = Callable[[Matrix, list[Number], list[Number]], None]

#: Inverse of a pivot, from the index of its speed and the pivot.
OfSpeed = Callable[[int, Number], Number]

#: Of a positive pivot, of what it was before other rows were eliminated, and of the sum of those.
OfRow = Callable[[Number, Number, Number], Number]


class Factors:
    """The system after elimination, which is the same for all right sides.

    M: Mass matrix; its lower half is read.
    rows: Independent, but for the last ones; their biases are not read.
    of_speed: Inverse of the pivot of a speed.
    of_row: Inverse of a pivot of a row, with its sign changed.
    last: How many rows may depend on others.
    solve_last, optional: Solves what is left for them, in place of the right side: a positive
        semidefinite matrix, of which it is given the lower half, and its diagonal before other rows
        were eliminated.
    """

    def __init__(
        self,
        M: Matrix,
        rows: Sequence[Row],
        of_speed: OfSpeed,
        of_row: OfRow,
        last: int = 0,
        solve_last: SolveLast | None = None,
    ) -> None:
        order, early = elimination_order(M, rows, len(rows) - last)
        #: Place of each speed and row in the order of elimination.
        self._speeds, self._rows = _places(len(M), len(rows), order)
        #: Factors of each pivot by column, and what is left for the last rows.
        self._entries = _entries(M, rows, self._speeds, self._rows)
        names = {at: k for k, at in enumerate(self._speeds)}
        self._end, self._solve_last = len(self._entries) - last, solve_last
        missing = {self._rows[r]: _missing(M, rows[r], order[r]) for r in early}
        #: Inverses of the pivots but the last ones.
        self._inverses, self._before = _eliminate(
            self._entries, names, of_speed, of_row, self._end, missing
        )

    def solve(
        self, force: Sequence[Number], biases: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Accelerations and multipliers; ``biases``: ``k`` of each row."""
        x = self._eliminated(force, biases)
        x[self._end :] = self._rest(x)
        for p in range(self._end - 1, -1, -1):
            x[p] = x[p] * self._inverses[p]
            for j, factor in self._entries[p].items():
                x[p] = x[p] - factor * x[j]
        return [x[at] for at in self._speeds], [-x[at] for at in self._rows]

    def energy(self, rates: Sequence[Number]) -> Number:
        """``r^T (K M^-1 K^T)^-1 r`` of some rates r of the rows.

        That is twice the kinetic energy of the motion of least energy with these rates. It takes no
        substitution from the root to the leaves.
        """
        x = self._eliminated([0.0] * len(self._speeds), [-rate for rate in rates])
        end = self._end
        total = -dot(x[end:], self._rest(x)) if len(x) > end else 0.0
        for value, inverse in zip(x[:end], self._inverses, strict=True):
            total = total - value * value * inverse
        return total

    def _eliminated(self, force: Sequence[Number], biases: Sequence[Number]) -> list[Number]:
        """The right side after elimination, in the order of that."""
        x: list[Number] = [0.0] * len(self._entries)
        for at, value in zip(self._speeds, force, strict=True):
            x[at] = value
        for at, bias in zip(self._rows, biases, strict=True):
            x[at] = -bias
        for p, factors in enumerate(self._entries[: self._end]):
            for i in sorted(factors):
                x[i] = x[i] - factors[i] * x[p]
        return x

    def _rest(self, x: Sequence[Number]) -> list[Number]:
        """Solution for the last rows."""
        end, count = self._end, len(x)
        found = list(x[end:])
        if self._solve_last is None or not found:
            return found
        left = [
            [-self._entries[j].get(i, 0.0) for j in range(end, i + 1)] for i in range(end, count)
        ]
        self._solve_last(left, found, [self._before[p] for p in range(end, count)])
        return [-value for value in found]


def _places(nv: int, count: int, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Places of speeds and rows in the order: a row after the speed in ``order``, or last."""
    speeds, multipliers, place = [0] * nv, [nv + r for r in range(count)], 0
    for k in range(nv - 1, -1, -1):
        speeds[k], place = place, place + 1
        for r in (r for r, after in enumerate(order) if after == k):
            multipliers[r], place = place, place + 1
    return speeds, multipliers


def _entries(
    M: Matrix, rows: Sequence[Row], speeds: Sequence[int], multipliers: Sequence[int]
) -> Entries:
    entries: Entries = [{} for _ in range(len(speeds) + len(multipliers))]
    for i, at in enumerate(speeds):
        entries[at].update((speeds[j], x) for j, x in enumerate(M[i][: i + 1]) if not is_zero(x))
    for row, at in zip(rows, multipliers, strict=True):
        entries[at][at] = 0.0
        for k, slope in row.jacobian.items():
            if not is_zero(slope):
                entries[min(speeds[k], at)][max(speeds[k], at)] = slope
    return entries


def _eliminate(
    entries: Entries,
    speeds: Mapping[int, int],
    of_speed: OfSpeed,
    of_row: OfRow,
    end: int,
    missing: Mapping[int, Number],
) -> tuple[list[Number], dict[int, Number]]:
    """Inverses of the pivots up to an end, and those of rows but for what other rows take of them.

    Factors are left in place of entries. Pivots of some rows may be small where the linkage is not
    singular, as something is missing from them.
    """
    inverses: list[Number] = []
    before: dict[int, Number] = {p: 0.0 for p in range(len(entries)) if p not in speeds}
    total: Number = 0.0
    for p, own in enumerate(entries[:end]):
        pivot = own.pop(p, 0.0)
        if p in speeds:
            inverses.append(of_speed(speeds[p], pivot))
        else:
            if p - 1 in speeds:  # the first of those that are eliminated together
                total = _sum_of_run(p, before, total)
            usual = (before[p] + missing[p]) * STRICT if p in missing else before[p]
            inverses.append(-of_row(-pivot, usual, total))
        columns = sorted(own)
        for n, i in enumerate(columns):
            factor = own[i] * inverses[p]
            for j in columns[n:]:
                entries[i][j] = entries[i].get(j, 0.0) - factor * own[j]
            if i in before and p in speeds:
                before[i] = before[i] + factor * own[i]
            own[i] = factor
    return inverses, before


def _missing(M: Matrix, row: Row, last: int) -> Number:
    """Estimate of the part of a row's pivot that earlier speeds would add."""
    total: Number = 0.0
    for k, slope in sorted(row.jacobian.items(), key=itemgetter(0)):
        if k < last and not is_zero(slope):
            total = total + slope * slope * (1.0 / M[k][k])
    return total


def _sum_of_run(p: int, numbers: Mapping[int, Number], total: Number) -> Number:
    """A sum, and the numbers from a place on up to the next gap."""
    while p in numbers:
        total, p = total + numbers[p], p + 1
    return total
