"""Dense linear algebra of small matrices as plain loops, which are compiled.

All numbers stand in one array ``w``. A matrix is the place of its first element there; its rows
are ``ld`` apart. A vector is the place of its first element. The integers in ``o`` likewise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Integers", "Reals", "add", "backward", "cholesky", "copy", "dot", "eliminate", "fill",
    "forward", "reflect", "swap", "triangulate",
]  # fmt: skip

Reals = NDArray[np.float64]
Integers = NDArray[Any]


def dot(w: Reals, x: int, y: int, n: int) -> float:
    """``x . y``."""
    value = 0.0
    for i in range(n):
        value += w[x + i] * w[y + i]
    return value


def add(w: Reals, factor: float, x: int, y: int, n: int) -> None:
    """``y += factor x``."""
    for i in range(n):
        w[y + i] += factor * w[x + i]


def fill(w: Reals, value: float, x: int, n: int) -> None:
    """``x = value`` everywhere."""
    for i in range(n):
        w[x + i] = value


def copy(w: Reals, factor: float, x: int, y: int, n: int) -> None:
    """``y = factor x``."""
    for i in range(n):
        w[y + i] = factor * w[x + i]


def swap(w: Reals, x: int, y: int, n: int) -> None:
    """Exchange x and y."""
    for i in range(n):
        w[x + i], w[y + i] = w[y + i], w[x + i]


def triangulate(
    w: Reals, o: Integers, ld: int, A: int, rows: int, columns: int, tau: int, order: int,
    tolerance: float,
) -> int:  # fmt: skip
    """Factor ``A[order] = L Q^T`` by Householder reflections with row pivoting; the rank.

    Each step takes the row with the largest part outside the span of those taken before, until
    that part is no more than ``tolerance`` of the first row. L is left on and below the diagonal
    of A, in the first ``rank`` columns; the reflections above it and in tau.
    """
    first = 0.0
    for i in range(rows):
        o[order + i] = i
    for j in range(min(rows, columns)):
        best, largest, left = j, -1.0, columns - j
        for i in range(j, rows):
            square = dot(w, A + i * ld + j, A + i * ld + j, left)
            if square > largest:
                best, largest = i, square
        size = math.sqrt(max(largest, 0.0))
        first = max(first, size)
        if not size > tolerance * first:
            return j
        o[order + j], o[order + best] = o[order + best], o[order + j]
        swap(w, A + j * ld, A + best * ld, columns)
        x = A + j * ld + j
        diagonal = -size if w[x] > 0.0 else size
        head = w[x] - diagonal
        w[tau + j], w[x] = -head / diagonal, head
        copy(w, 1.0 / head, x, x, left)
        for i in range(j + 1, rows):
            y = A + i * ld + j
            add(w, -w[tau + j] * dot(w, x, y, left), x, y, left)
        w[x] = diagonal
    return min(rows, columns)


def reflect(
    w: Reals, ld: int, A: int, tau: int, rank: int, columns: int, x: int, back: bool
) -> None:
    """``Q^T x``, or ``Q x`` if ``back``, in place, with the reflections of `triangulate`."""
    for step in range(rank):
        j = rank - 1 - step if back else step
        v, y, left = A + j * ld + j + 1, x + j + 1, columns - j - 1
        part = w[tau + j] * (w[x + j] + dot(w, v, y, left))
        w[x + j] -= part
        add(w, -part, v, y, left)


def forward(w: Reals, ld: int, L: int, n: int, x: int) -> None:
    """``L^-1 x`` in place, L the lower triangle."""
    for i in range(n):
        w[x + i] = (w[x + i] - dot(w, L + i * ld, x, i)) / w[L + i * ld + i]


def backward(w: Reals, ld: int, L: int, n: int, x: int) -> None:
    """``L^-T x`` in place, L the lower triangle."""
    for step in range(n):
        i = n - 1 - step
        w[x + i] /= w[L + i * ld + i]
        add(w, -w[x + i], L + i * ld, x, i)


def cholesky(w: Reals, ld: int, M: int, n: int, tolerance: float) -> bool:
    """Replace the lower triangle of M by its Cholesky factor.

    False, with a part of it replaced, at a pivot not above ``tolerance``.
    """
    for i in range(n):
        row = M + i * ld
        forward(w, ld, M, i, row)
        pivot = w[row + i] - dot(w, row, row, i)
        if not pivot > tolerance:
            return False
        w[row + i] = math.sqrt(pivot)
    return True


def eliminate(w: Reals, ld: int, A: int, n: int, x: int) -> None:
    """``A^-1 x`` in place, by Gauss's elimination with row pivoting; A is overwritten."""
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(w[A + i * ld + j]) > abs(w[A + best * ld + j]):
                best = i
        here = A + j * ld
        swap(w, x + j, x + best, 1)
        swap(w, here, A + best * ld, n)
        for i in range(j + 1, n):
            factor = -w[A + i * ld + j] / w[here + j]
            w[x + i] += factor * w[x + j]
            add(w, factor, here + j, A + i * ld + j, n - j)
    for step in range(n):
        i = n - 1 - step
        row = A + i * ld + i
        w[x + i] = (w[x + i] - dot(w, row + 1, x + i + 1, step)) / w[row]
