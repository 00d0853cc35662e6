"""The uncontrollable subspace of a linear model."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.tolerances import UNREACHED_MODE

__all__ = ["untouched"]


def untouched(A: Array, B: Array) -> Array:
    """Orthonormal basis W, shape (n, k), of the uncontrollable left subspace: ``W^T B = 0``.

    ``W^T A`` is a combination of the rows of ``W^T``.
    """
    n = len(A)
    size = np.linalg.norm(B, axis=0)
    fresh = B / np.where(size > 0.0, size, 1.0)
    left = np.eye(n)
    largest = 1.0
    for _ in range(n):
        values, rank = _range(left.T @ fresh, UNREACHED_MODE * largest)
        if not rank:
            break
        new = left @ values[:, :rank]
        left = left @ values[:, rank:]
        fresh, largest = A @ new, float(np.abs(A).max(initial=0.0))
        if not left.shape[1]:
            break
    return left


def _range(x: Array, least: float) -> tuple[Array, int]:
    """An orthonormal basis whose first vectors span the columns of a matrix, and their number."""
    U, sizes, _ = np.linalg.svd(x, full_matrices=True)
    return U, int((sizes > least * max(1.0, x.shape[0])).sum())
