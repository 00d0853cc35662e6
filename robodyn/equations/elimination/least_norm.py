"""Multipliers of least norm, where redundant rows of loops leave a choice.

Independent rows ``K`` carry what loops exert with multipliers ``lam``. Other rows ``D K`` that
follow from them can carry a part of it, ``mu``, and then ``lam - D^T mu`` is left to the first
ones. The sum of all squares is least where ``(I + D D^T) mu = D lam``.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.elimination.constrained import solve_positive
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, dot


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
    square = [[_product(rows[i], rows[j]) for j in range(i + 1)] for i in range(len(rows))]
    return solve_positive(square, [_product(x, row) for x in rows])


def _product(a: Row, b: Row) -> Number:
    common = [k for k in a.jacobian if k in b.jacobian]
    return dot([a.jacobian[k] for k in common], [b.jacobian[k] for k in common])
