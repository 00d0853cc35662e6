"""Solving with the mass matrix: its factorisation ``M = L^T D L`` keeps the zeros of the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import Number, Scalar, by_precision, inverse_above, is_zero
from robodyn.tolerances import PIVOT_DIGITS, PIVOT_ZERO, SMALLEST_FULL_PRECISION


class Factors:
    """``L`` (unit, lower) and the inverse of ``D`` (diagonal)."""

    __slots__ = ("L", "inverse_D")

    def __init__(self, L: Matrix, inverse_D: list[Number]) -> None:
        self.L, self.inverse_D = L, inverse_D


def factorize(M: Matrix, light: Mapping[int, float] | None = None) -> Factors:
    """``M = L^T D L`` from the last row up: no zero of M is filled [Featherstone, table 6.3].

    light, optional: Rows whose pivots may vanish, each with an element of another M on this
        diagonal. Where one does, the factors are not numbers.
    """
    n, inverse_of = len(M), pivot_inverse(M, light)
    L = [row[: k + 1] for k, row in enumerate(M)]
    inverse_D: list[Number] = [0.0] * n
    for k in range(n - 1, -1, -1):
        inverse_D[k] = inverse_of(k, L[k][k])
        for i in range(k - 1, -1, -1):
            scaled = L[k][i] * inverse_D[k]
            if is_zero(scaled):
                continue
            for j in range(i + 1):
                L[i][j] -= scaled * L[k][j]
            L[k][i] = scaled
        L[k][k] = 1.0
    return Factors(L, inverse_D)


def pivot_inverse(
    M: Matrix, light: Mapping[int, float] | None = None
) -> Callable[[int, Number], Number]:
    """Inverse of what elimination leaves of a diagonal element, as a function of its row and it.

    Arguments as for `factorize`.
    """
    light = light or {}
    before = {k: M[k][k] for k in light}

    def inverse(k: int, pivot: Number) -> Number:
        return _guarded(pivot, before[k], light[k]) if k in light else 1.0 / pivot

    return inverse


def _guarded(pivot: Number, before: Number, typical: float) -> Number:
    """Inverse of a pivot; not a number where next to nothing was left of it."""
    if not isinstance(pivot, Scalar):
        return 1.0 / pivot
    left, vanishing = (by_precision(pivot.graph, *pair) for pair in (PIVOT_DIGITS, PIVOT_ZERO))
    return inverse_above(pivot, before * left + (vanishing * typical + SMALLEST_FULL_PRECISION))


def solve(factors: Factors, b: Sequence[Number]) -> list[Number]:
    """``x`` with ``M x = b``."""
    L, n = factors.L, len(b)
    x = list(b)
    for k in range(n - 1, -1, -1):  # L^-T b
        for i in range(k):
            x[i] -= L[k][i] * x[k]
    x = [value * d for value, d in zip(x, factors.inverse_D, strict=True)]
    for k in range(n):  # L^-1 of it
        for i in range(k):
            x[k] -= L[k][i] * x[i]
    return x


def inverse(factors: Factors) -> Matrix:
    """``M^-1 = W D^-1 W^T`` with ``W = L^-1``."""
    L, n = factors.L, len(factors.inverse_D)
    W: Matrix = [[0.0] * n for _ in range(n)]
    for j in range(n):
        W[j][j] = 1.0
        for i in range(j + 1, n):
            for k in range(j, i):
                W[i][j] -= L[i][k] * W[k][j]
    result: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        scaled = [W[i][k] * factors.inverse_D[k] for k in range(i + 1)]
        for j in range(i + 1):
            total: Number = 0.0
            for k in range(j + 1):
                total += scaled[k] * W[j][k]
            result[i][j] = result[j][i] = total
    return result
