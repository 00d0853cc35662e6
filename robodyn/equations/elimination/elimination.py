"""Elimination of the speeds and multipliers of a closed linkage, from its leaves to its root.

Accelerations ``a`` and multipliers ``lam`` are the solution of one symmetric system::

    [ M  K^T ] [  a   ]   [ f  ]
    [ K   0  ] [ -lam ] = [ -k ]

Speeds are eliminated from the leaves of the tree to its root, which fills no zero of M
[Featherstone, table 6.3], and each row of K as soon as all speeds are gone that it is about, or
earlier where that fills less (`elimination_order`). What
is left of a loop then concerns only the joints between it and the root, and loops of different legs
meet only there. Pivots of speeds are positive, those of rows negative as long as the rows are
independent. Rows that may depend on others are left to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from robodyn.equations.elimination.elimination_order import elimination_order
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, dot, is_zero

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


def solve(
    M: Matrix,
    force: Sequence[Number],
    rows: Sequence[Row],
    of_speed: OfSpeed,
    of_row: OfRow,
    last: int = 0,
    solve_last: SolveLast | None = None,
) -> tuple[list[Number], list[Number]]:
    """Accelerations and multipliers.

    M: Mass matrix; its lower half is read.
    rows: Independent, but for the last ones.
    of_speed: Inverse of the pivot of a speed.
    of_row: Inverse of a pivot of a row, with its sign changed.
    last: How many rows may depend on others.
    solve_last, optional: Solves what is left for them, in place of the right side: a positive
        semidefinite matrix, of which it is given the lower half, and its diagonal before other rows
        were eliminated.
    """
    it = _Eliminated(M, force, rows, of_speed, of_row, last)
    x, end = it.right, it.end
    x[end:] = it.solve_rest(solve_last)
    for p in range(end - 1, -1, -1):
        x[p] = x[p] * it.inverses[p]
        for j, factor in it.entries[p].items():
            x[p] = x[p] - factor * x[j]
    return [x[at] for at in it.speeds], [-x[at] for at in it.multipliers]


def energy(
    M: Matrix,
    rates: Sequence[Number],
    rows: Sequence[Row],
    of_speed: OfSpeed,
    of_row: OfRow,
    last: int = 0,
    solve_last: SolveLast | None = None,
) -> Number:
    """``r^T (K M^-1 K^T)^-1 r`` of some rates r of the rows.

    That is twice the kinetic energy of the motion of least energy with these rates. It takes no
    substitution from the root to the leaves.

    Other arguments as for `solve`.
    """
    asked = [Row(0.0, row.jacobian, -rate) for row, rate in zip(rows, rates, strict=True)]
    it = _Eliminated(M, [0.0] * len(M), asked, of_speed, of_row, last)
    x, end = it.right, it.end
    total = -dot(x[end:], it.solve_rest(solve_last)) if len(x) > end else 0.0
    for value, inverse in zip(x[:end], it.inverses, strict=True):
        total = total - value * value * inverse
    return total


class _Eliminated:
    """The system after elimination; arguments as for `solve`.

    speeds, multipliers: Place of each in the order of elimination.
    end: Place of the first row that may depend on others.
    entries: Factors of each pivot, and what is left after ``end``.
    right: The right side.
    inverses: Of the pivots before ``end``.
    """

    def __init__(
        self,
        M: Matrix,
        force: Sequence[Number],
        rows: Sequence[Row],
        of_speed: OfSpeed,
        of_row: OfRow,
        last: int,
    ) -> None:
        order, early = elimination_order(M, rows, len(rows) - last)
        self.speeds, self.multipliers = _places(len(M), len(rows), order)
        self.entries = _entries(M, rows, self.speeds, self.multipliers)
        self.right: list[Number] = [0.0] * len(self.entries)
        for at, value in zip(self.speeds, force, strict=True):
            self.right[at] = value
        for at, row in zip(self.multipliers, rows, strict=True):
            self.right[at] = -row.bias
        names = {at: k for k, at in enumerate(self.speeds)}
        self.end = len(self.right) - last
        missing = {self.multipliers[r]: _missing(M, rows[r], order[r]) for r in early}
        self.inverses, self._before = _eliminate(
            self.entries, self.right, names, of_speed, of_row, self.end, missing
        )

    def solve_rest(self, solve_last: SolveLast | None) -> list[Number]:
        """Solution for the last rows."""
        end, count = self.end, len(self.right)
        found = self.right[end:]
        if solve_last is None or not found:
            return found
        left = [
            [-self.entries[j].get(i, 0.0) for j in range(end, i + 1)] for i in range(end, count)
        ]
        solve_last(left, found, [self._before[p] for p in range(end, count)])
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
    x: list[Number],
    speeds: Mapping[int, int],
    of_speed: OfSpeed,
    of_row: OfRow,
    end: int,
    missing: Mapping[int, Number],
) -> tuple[list[Number], dict[int, Number]]:
    """Inverses of the pivots up to an end, and those of rows but for what other rows take of them.

    Factors are left in place of entries, and the right side is changed. Pivots of some rows may be
    small where the linkage is not singular, as something is missing from them.
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
            x[i] = x[i] - factor * x[p]
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
