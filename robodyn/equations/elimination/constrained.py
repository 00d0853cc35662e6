"""Dynamics of closed linkages, in straight-line code, where the rank of the loops is known.

The rows that are used are independent, but for groups of rows at their end whose rank is known.
Should the rank be lower after all, at a singular posture, the results are not a number, and another
solver has to be asked.

Rows of loops may depend on one another in a way that changes with the posture. In spatial
overconstrained linkages no rows may be independent at every posture, though their rank is the same
everywhere. All rows of such a group are kept. What elimination leaves of the matrix ``K M^-1 K^T``
for them is a positive semidefinite matrix S of known rank p, and every solution of ``S x = b``
gives the same accelerations. One that needs no choice of rows follows from the characteristic
polynomial of ``W S`` (Cayley and Hamilton), with a diagonal W that makes rows in metres and radians
comparable [Decell 1965]::

    (W S)^p - c_1 (W S)^(p-1) + ... -+ c_p = 0        on the range of W S

For p = 1 it is ``x = W b / trace(W S)``.

Redundant rows leave a choice of multipliers (`least_norm`). Independent rows ``K`` carry what loops
exert with multipliers ``lam``. Other rows ``D K`` that follow from them can carry a part of it,
``mu``, and then ``lam - D^T mu`` is left to the first ones. The sum of all squares is least where
``(I + D D^T) mu = D lam``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from robodyn.equations.elimination.elimination import Factors
from robodyn.equations.tree.composite_body import Matrix, pivot_inverse
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import (
    Number,
    Scalar,
    by_precision,
    dot,
    if_not_negative,
    inverse_above,
    is_zero,
)
from robodyn.tolerances import HELD_BY_MOTORS, LOOP_PIVOT_DIGITS, LOOP_ROW_ZERO


@dataclass(frozen=True)
class RowGroup:
    """A group of rows at the end of those that are kept, solved together.

    rank: What they add to the rank of the rows before them, at every posture.
    weights: One a row: about the inverse square of its usual size.
    """

    rank: int
    weights: tuple[float, ...]


def generalised_inverse(S: Matrix, group: RowGroup, inverse: Callable[[Number], Number]) -> Matrix:
    """A matrix X with ``S X S = S``.

    S: Symmetric, positive semidefinite, of the group's rank.
    inverse: Inverse of a number that is positive unless the rank is lower.
    """
    w, n = group.weights, range(len(group.weights))
    WS = [[w[i] * S[i][j] for j in n] for i in n]
    X: Matrix = [[1.0 if i == j else 0.0 for j in n] for i in n]
    c = _trace(WS)
    for k in range(2, group.rank + 1):
        product = _product(WS, X)
        X = [[(c if i == j else 0.0) - product[i][j] for j in n] for i in n]
        c = _trace(_product(WS, X)) * (1.0 / k)
    factor = inverse(c)
    return [[X[i][j] * w[j] * factor for j in n] for i in n]


def _trace(A: Matrix) -> Number:
    return sum((row[i] for i, row in enumerate(A)), 0.0)


def _product(A: Matrix, B: Matrix) -> Matrix:
    n = range(len(A))
    return [[dot(A[i], [B[k][j] for k in n]) for j in n] for i in n]


def guarded_inverse(pivot: Number, before: Number, total: Number) -> Number:
    """Inverse of a positive pivot; NaN if it is too small.

    That is below a small part of what it was before elimination, and a much smaller one of the sum
    of all pivots before elimination.
    """
    if isinstance(pivot, float):
        return 1.0 / pivot
    return inverse_above(pivot, before * LOOP_PIVOT_DIGITS + total * LOOP_ROW_ZERO)


def accelerations(
    M: Matrix,
    force: Sequence[Number],
    rows: Sequence[Row],
    light: Mapping[int, float] | None = None,
    groups: Sequence[RowGroup] = (),
) -> tuple[list[Number], list[Number]]:
    """Accelerations and multipliers [W 5.203, 5.204; Mufti 14].

    M: Mass matrix.
    force: ``tau - h``.
    rows: Independent, but for groups at their end; their bias includes what stabilises them.
    light, optional: Speeds that may move no mass, as for `factorize`.
    """
    factors = Factors(M, rows, *_pivots(M, light, groups))
    return factors.solve(force, [row.bias for row in rows])


class FreeSystem:
    """The equations of a linkage over some speeds, the free ones, as those of others are given.

    M: Mass matrix of all speeds.
    rows: Independent in the free speeds, but for groups at their end.
    light: Speeds that may move no mass, as for `factorize`.
    """

    def __init__(
        self,
        M: Matrix,
        rows: Sequence[Row],
        free: Sequence[int],
        light: Mapping[int, float],
        groups: Sequence[RowGroup] = (),
    ) -> None:
        self._size, self._free, self._groups = len(M), free, groups
        self._M = [[M[i][j] for j in free] for i in free]
        self._light = {i: light[k] for i, k in enumerate(free) if k in light}
        self._rows = [
            Row(0.0, {i: row.jacobian[k] for i, k in enumerate(free) if k in row.jacobian}, 0.0)
            for row in rows
        ]

    @cached_property
    def _factors(self) -> Factors:
        return Factors(self._M, self._rows, *_pivots(self._M, self._light, self._groups))

    def solve(
        self, force: Sequence[Number], biases: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Accelerations, zero of speeds that are not free, and multipliers.

        force: At the free speeds.
        biases: ``k`` of each row, and what given accelerations add to it.
        """
        x, lam = self._factors.solve(force, biases)
        a: list[Number] = [0.0] * self._size
        for k, value in zip(self._free, x, strict=True):
            a[k] = value
        return a, lam

    def still(self, biases: Sequence[Number]) -> list[Number]:
        """The motion of least energy with ``K x = -k``."""
        return self.solve([0.0] * len(self._free), biases)[0]

    def energy(self, rates: Sequence[Number]) -> Number:
        """Twice the least kinetic energy with which the rows are violated at some rates.

        Of known rates it says how near the rows are to dependence: large near singular postures.
        """
        return self._factors.energy(rates)


def _pivots(M: Matrix, light: Mapping[int, float] | None, groups: Sequence[RowGroup]) -> Any:
    """Functions that invert pivots, the number of rows in groups, and their solver."""
    grouped = sum(len(group.weights) for group in groups)
    return pivot_inverse(M, light), guarded_inverse, grouped, partial(_solve_groups, groups)


def motor_forces(
    needed: Sequence[Number],
    rows: Sequence[Row],
    dependent: Sequence[int],
    order: Sequence[Sequence[int]],
    scales: Sequence[float] = (),
) -> tuple[list[Number], list[Number]]:
    """Generalised forces at the independent speeds alone, and multipliers.

    ``K_d^T lam = g_d`` and ``tau_u = g_u - K_u^T lam`` with ``g`` the forces of the open tree
    [PyMbs 11].

    needed: ``g``.
    rows: As many as there are dependent speeds, or more that depend on one another.
    dependent: Speeds without motor.
    order: The rows to eliminate with the first of them, one by one or by twos: pivots that were
        large wherever it was tried. The other rows take what is left to the other speeds, in the
        least squares.
    scales: Makes each of the rows comparable with the others; 1 if none are given.
    """
    first = [r for block in order for r in block]
    chosen = [*first, *(r for r in range(len(rows)) if r not in first)]
    scale = scales or [1.0] * len(rows)
    A = [[rows[r].jacobian.get(k, 0.0) * scale[r] for r in chosen] for k in dependent]
    lam = _solve_general(A, [needed[k] for k in dependent], [len(x) for x in order])
    multipliers: list[Number] = [0.0] * len(rows)
    for r, x in zip(chosen, lam, strict=True):
        multipliers[r] = x * scale[r]
    tau = list(needed)
    for row, x in zip(rows, multipliers, strict=True):
        for k, slope in row.jacobian.items():
            tau[k] = tau[k] - slope * x
    for k in dependent:
        tau[k] = 0.0
    return tau, multipliers


def least_motor_forces(
    needed: Sequence[Number],
    rows: Sequence[Row],
    motors: Sequence[int],
    scales: Sequence[float],
    groups: Sequence[RowGroup] = (),
) -> tuple[list[Number], list[Number]]:
    """Generalised forces of least norm at the motors, and multipliers.

    Forces ``tau = g - K^T lam`` are least where they are a motion that the loops allow, at the
    motors: ``I_u x = g - K^T lam`` and ``K x = 0``, with ``I_u`` the identity at motors and zero
    elsewhere. These are the equations of accelerations, and as ``K x`` is zero, ``K^T S K`` of rows
    with speeds without motor may be added to the matrix, which makes it positive definite where
    motors hold all motions.

    needed, rows: As for `motor_forces`; rows are independent, but for groups at their end.
    motors: Speeds with motors.
    scales: Makes each of the rows comparable with the others: the square roots of ``S``.
    """
    nv = len(needed)
    A: Matrix = [[float(i == j and i in motors) for j in range(nv)] for i in range(nv)]
    for row, scale in zip(rows, scales, strict=True):
        if all(k in motors for k in row.jacobian):
            continue
        for i, x in row.jacobian.items():
            for j, y in row.jacobian.items():
                if j <= i:
                    A[i][j] = A[i][j] + x * y * scale**2
    _, *of_rows = _pivots(A, None, groups)
    factors = Factors(A, rows, _inverse_where_held, *of_rows)
    motion, lam = factors.solve(needed, [0.0] * len(rows))
    tau = [motion[k] if k in motors else 0.0 for k in range(nv)]
    return tau, [-value for value in lam]


def _inverse_where_held(_: int, pivot: Number) -> Number:
    """Inverse of a pivot; NaN where motors hardly act on a motion."""
    if not isinstance(pivot, Scalar):
        return 1.0 / pivot
    return inverse_above(pivot, by_precision(pivot.graph, *HELD_BY_MOTORS))


def if_possible(
    tau: Sequence[Number],
    gaps: Sequence[Number],
    a: Sequence[Number],
    part: tuple[float, float],
) -> list[Number]:
    """Forces, some NaN if accelerations open loops by more than a part of the largest.

    The part is another one in single precision.
    """
    opened = dot(gaps, gaps)
    if not isinstance(opened, Scalar):
        return list(tau)
    double, single = (x**2 / (len(a) + 1) for x in part)
    allowed = (dot(a, a) + 1.0) * by_precision(opened.graph, double, single)
    return if_not_negative(tau, allowed - opened)


def solve_positive(A: Matrix, b: list[Number]) -> list[Number]:
    """``A x = b`` for a positive definite matrix, given by its lower half: ``A = L D L^T``."""
    n = len(b)
    inverse: list[Number] = []
    before = [A[i][i] for i in range(n)]
    total = sum(before, 0.0)
    x = list(b)
    for k in range(n):
        inverse.append(guarded_inverse(A[k][k], before[k], total))
        column: list[Number] = [A[i][k] if i > k else 0.0 for i in range(n)]
        for i in range(k + 1, n):
            factor = column[i] * inverse[k]
            if is_zero(factor):
                continue
            for j in range(k + 1, i + 1):
                A[i][j] = A[i][j] - factor * column[j]
            x[i] = x[i] - factor * x[k]
            A[i][k] = factor
    for k in range(n - 1, -1, -1):
        x[k] = x[k] * inverse[k]
        for i in range(k + 1, n):
            x[k] = x[k] - A[i][k] * x[i]
    return x


def _solve_groups(
    groups: Sequence[RowGroup], A: Matrix, x: list[Number], before: Sequence[Number]
) -> None:
    """``A x = b`` in place of b, for a positive semidefinite matrix, given by its lower half.

    ``before`` is its diagonal before other rows were eliminated.
    """
    n, first = len(x), 0
    total = sum(before, 0.0)
    eliminated: list[tuple[range, Matrix]] = []
    for group in groups:
        own = range(first, first + len(group.weights))
        S = [[A[max(i, j)][min(i, j)] for j in own] for i in own]
        size = dot(group.weights, [before[i] for i in own]) ** group.rank
        largest = (total * max(group.weights)) ** group.rank
        X = generalised_inverse(S, group, partial(guarded_inverse, before=size, total=largest))
        eliminated.append((own, X))
        first = own.stop
        for i in range(first, n):
            factors = [dot([A[i][k] for k in own], column) for column in zip(*X, strict=True)]
            for j in range(first, i + 1):
                A[i][j] = A[i][j] - dot(factors, [A[j][k] for k in own])
            x[i] = x[i] - dot(factors, [x[k] for k in own])
    for own, X in reversed(eliminated):
        rest = [x[k] - dot([A[i][k] for i in range(own.stop, n)], x[own.stop :]) for k in own]
        x[own.start : own.stop] = [dot(row, rest) for row in X]


def _solve_general(A: Matrix, b: list[Number], blocks: Sequence[int]) -> list[Number]:
    """``A x = b`` by elimination along the diagonal, the last unknowns by least squares.

    Pivots are blocks of one or two.
    """
    n, columns, x = len(b), len(A[0]) if A else 0, list(b)
    size = [dot(row, row) for row in A]
    total = sum(size, 0.0)
    eliminated: list[tuple[range, Matrix]] = []
    first = 0
    for count in blocks:
        own = range(first, first + count)
        first = own.stop
        X = _inverse([[A[i][j] for j in own] for i in own], [size[i] for i in own], total)
        eliminated.append((own, X))
        for i in range(first, n):
            factors = [dot([A[i][k] for k in own], column) for column in zip(*X, strict=True)]
            for j in range(first, columns):
                A[i][j] = A[i][j] - dot(factors, [A[k][j] for k in own])
            x[i] = x[i] - dot(factors, [x[k] for k in own])
    rest = _least_solution([row[first:] for row in A[first:]], x[first:])
    x[first:] = rest or [0.0] * (columns - first)
    for own, X in reversed(eliminated):
        known = [x[k] - dot(A[k][own.stop :], x[own.stop :]) for k in own]
        x[own.start : own.stop] = [dot(row, known) for row in X]
    return x


def _inverse(A: Matrix, before: Sequence[Number], total: Number) -> Matrix:
    """Inverse of a block of one or four numbers; NaN if it is too large."""
    determinant, size = A[0][0], before[0]
    adjugate: Matrix = [[1.0]]
    if len(A) == 2:
        ((a, b), (c, d)), size, total = A, before[0] * before[1], total * total
        determinant, adjugate = a * d - b * c, [[d, -b], [-c, a]]
    # 1 / D as D / D^2, where D^2 is not too small
    factor = determinant * guarded_inverse(determinant * determinant, size, total)
    return [[x * factor for x in row] for row in adjugate]


def _least_solution(A: Matrix, b: list[Number]) -> list[Number]:
    """The least x with ``A x = b``, for independent rows of A: ``A^T (A A^T)^-1 b``.

    What rounding leaves of b is solved for once more: the result is then about as good as that of
    an orthogonal factorisation [Bjorck 1996, 6.6.5].
    """
    columns = list(zip(*A, strict=True))

    def applied(rest: list[Number]) -> list[Number]:
        square = [[dot(A[i], A[j]) for j in range(i + 1)] for i in range(len(A))]
        y = solve_positive(square, rest)
        return [dot(column, y) for column in columns]

    x = applied(b)
    missing = [value - dot(row, x) for value, row in zip(b, A, strict=True)]
    return [a + c for a, c in zip(x, applied(missing), strict=True)]


def least_norm(
    rows: Sequence[Row], others: Sequence[Row], multipliers: Sequence[Number]
) -> tuple[list[Number], list[Number]]:
    """Multipliers of independent rows and of others that follow from them.

    rows: Independent.
    multipliers: Of ``rows``, which do alone what both do together.
    """
    moving = [k for k, row in enumerate(others) if any(row.jacobian.values())]
    D = [_as_sum(rows, others[k]) for k in moving]
    square = [[dot(D[i], D[j]) + float(i == j) for j in range(i + 1)] for i in range(len(D))]
    mu = solve_positive(square, [dot(x, multipliers) for x in D])
    of_others: list[Number] = [0.0] * len(others)
    of_rows = list(multipliers)
    for k, x, weights in zip(moving, mu, D, strict=True):
        of_others[k] = x
        of_rows = [lam - w * x for lam, w in zip(of_rows, weights, strict=True)]
    return of_rows, of_others


def _as_sum(rows: Sequence[Row], row: Row) -> list[Number]:
    """Coefficients of another row in terms of the independent rows."""
    square = [[_inner(rows[i], rows[j]) for j in range(i + 1)] for i in range(len(rows))]
    return solve_positive(square, [_inner(x, row) for x in rows])


def _inner(a: Row, b: Row) -> Number:
    common = [k for k in a.jacobian if k in b.jacobian]
    return dot([a.jacobian[k] for k in common], [b.jacobian[k] for k in common])
