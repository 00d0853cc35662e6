"""Rows of loops that depend on one another in a way that changes with the posture.

In spatial overconstrained linkages no rows may be independent at every posture, though their rank
is the same everywhere. All rows of such a group are kept. What elimination leaves of the matrix
``K M^-1 K^T`` for them is a positive semidefinite matrix S of known rank p, and every solution of
``S x = b`` gives the same accelerations. One that needs no choice of rows follows from the
characteristic polynomial of ``W S`` (Cayley and Hamilton), with a diagonal W that makes rows in
metres and radians comparable [Decell 1965]::

    (W S)^p - c_1 (W S)^(p-1) + ... -+ c_p = 0        on the range of W S

For p = 1 it is ``x = W b / trace(W S)``.
"""

from __future__ import annotations

from collections.abc import Callable

from robodyn.equations.tree.composite_body import Matrix
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, dot


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
