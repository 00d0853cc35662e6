"""Dynamics of closed linkages, in straight-line code, where the rank of the loops is known.

The rows that are used are independent. Should they become dependent after all, at a singular
posture, the results are not a number, and another solver has to be asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.loops import elimination
from robodyn.equations.tree.composite_body import Matrix
from robodyn.equations.tree.factorization import pivot_inverse
from robodyn.joints.common.cut import Row
from robodyn.symbolic.scalar import Number, Scalar, by_precision, sqrt

__all__ = ["accelerations", "guarded_inverse", "if_possible", "motor_forces"]

#: Pivots below this part of what they were before elimination count as zero.
SINGULAR = 1e-11

#: So do those below this part of the sum of all: rows that vanish as a whole.
VANISHING = 1e-22


def guarded_inverse(pivot: Number, before: Number, total: Number) -> Number:
    """Inverse of a pivot that is positive; not a number where it is too small.

    ``1 / (sqrt(p - e)^2 + e)`` with ``e`` a small part of what the pivot was before elimination,
    and a much smaller one of the sum of all pivots before elimination.
    """
    if isinstance(pivot, float):
        return 1.0 / pivot
    least = before * SINGULAR + total * VANISHING
    root = sqrt(pivot - least)
    return 1.0 / (root * root + least)


def accelerations(
    M: Matrix,
    force: Sequence[Number],
    rows: Sequence[Row],
    light: Mapping[int, float] | None = None,
) -> tuple[list[Number], list[Number]]:
    """Accelerations and multipliers [W 5.203, 5.204; Mufti 14].

    Parameters
    ----------
    M : Matrix
        Mass matrix.
    force : sequence of nv numbers
        ``tau - h``.
    rows : sequence of Row
        Independent; their bias includes what stabilises them.
    light : mapping of int to float, optional
        Speeds that may move no mass, as for `factorization.factorize`.
    """
    return elimination.solve(M, force, rows, pivot_inverse(M, light), guarded_inverse)


def motor_forces(
    needed: Sequence[Number], rows: Sequence[Row], dependent: Sequence[int], order: Sequence[int]
) -> tuple[list[Number], list[Number]]:
    """Generalised forces at the independent speeds alone, and multipliers: the loops do the rest.

    ``K_d^T lam = g_d`` and ``tau_u = g_u - K_u^T lam`` with ``g`` the forces of the open tree
    [PyMbs 11].

    Parameters
    ----------
    needed : sequence of nv numbers
        ``g``.
    rows : sequence of Row
        As many as there are dependent speeds.
    dependent : sequence of int
        Speeds without motor.
    order : sequence of int
        The row to eliminate with each of them: pivots that were large where it was tried.
    """
    A = [[rows[r].jacobian.get(k, 0.0) for r in order] for k in dependent]
    lam = _solve_general(A, [needed[k] for k in dependent])
    multipliers: list[Number] = [0.0] * len(rows)
    for r, x in zip(order, lam, strict=True):
        multipliers[r] = x
    tau = list(needed)
    for row, x in zip(rows, multipliers, strict=True):
        for k, slope in row.jacobian.items():
            tau[k] = tau[k] - slope * x
    for k in dependent:
        tau[k] = 0.0
    return tau, multipliers


def if_possible(
    tau: Sequence[Number],
    gaps: Sequence[Number],
    a: Sequence[Number],
    part: tuple[float, float],
) -> list[Number]:
    """Forces; not numbers where accelerations open the loops by more than a part of the largest.

    The part is another one in single precision.
    """
    opened = _dot(gaps, gaps)
    if not isinstance(opened, Scalar):
        return list(tau)
    double, single = (x**2 / (len(a) + 1) for x in part)
    rest = (_dot(a, a) + 1.0) * by_precision(opened.graph, double, single) - opened
    root = sqrt(rest)
    # zero, but for rounding far below that of the forces, where the root is a number
    return [x if isinstance(x, float) else x + (root * root - rest) for x in tau]


def _dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    total: Number = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _sum(numbers: Sequence[Number]) -> Number:
    total: Number = 0.0
    for x in numbers:
        total = total + x
    return total


def _solve_general(A: Matrix, b: list[Number]) -> list[Number]:
    """``A x = b`` by elimination along the diagonal."""
    n, x = len(b), list(b)
    inverse: list[Number] = []
    size = [_dot(row, row) for row in A]
    total = _sum(size)
    for k in range(n):
        pivot = A[k][k]
        # p / p^2, where p^2 is not too small beside the row it comes from
        inverse.append(pivot * guarded_inverse(pivot * pivot, size[k], total))
        for i in range(k + 1, n):
            factor = A[i][k] * inverse[k]
            if factor.__class__ is float and not factor:
                continue
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - factor * A[k][j]
            x[i] = x[i] - factor * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] = x[k] - A[k][j] * x[j]
        x[k] = x[k] * inverse[k]
    return x
