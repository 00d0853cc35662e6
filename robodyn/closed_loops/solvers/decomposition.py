"""Singular value decomposition of scaled constraint Jacobians, grouped by rank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.solvers.scaling import Scaled
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import CONSTRAINT_RANK, EQUAL_PIVOTS


@dataclass(frozen=True, eq=False)
class Decomposition:
    """``scaled.matrix = U diag(values) Vt`` and its rank [Mufti 1983, App., (A-9)].

    U (n, nc, nc)
    values (n, min(nc, nv))
    Vt (n, nv, nv)
    rank (n,)
    """

    scaled: Scaled
    U: Array
    values: Array
    Vt: Array
    rank: Array

    def null(self, at: Array, rank: int) -> Array:
        """Orthonormal null spaces (len(at), nv, nv - rank), of scaled speeds."""
        return np.swapaxes(self.Vt[at, rank:, :], -1, -2)

    def multipliers(self, at: Array, rank: int, force: Array) -> Array:
        """Multipliers of least 2-norm with ``K^T lam = force`` (len(at), nv), if there are any."""
        weights = self.U[at, :, :rank] * self.values[at, None, :rank]
        # K = C Vt, and C = Q R
        Q, R = np.linalg.qr(weights / self.scaled.rows[at][:, :, None])
        mu = np.einsum("nij,nj->ni", self.Vt[at, :rank], force / self.scaled.columns[at])
        return np.asarray(Q @ np.linalg.solve(np.swapaxes(R, -1, -2), mu[..., None]))[..., 0]


def decompose(scaled: Scaled, tolerance: float = CONSTRAINT_RANK) -> Decomposition:
    """Singular value decomposition and rank of each system of a batch."""
    n, nc, nv = scaled.matrix.shape
    if min(n, nc, nv) == 0:
        U, Vt = (np.broadcast_to(np.eye(size), (n, size, size)) for size in (nc, nv))
        values = np.zeros((n, min(nc, nv)))
    else:
        U, values, Vt = np.linalg.svd(scaled.matrix, full_matrices=True)
    largest = values.max(axis=-1, keepdims=True, initial=0.0)
    rank = ((values > tolerance * largest) & (values > 0.0)).sum(axis=-1)
    return Decomposition(scaled, U, values, Vt, rank)


def groups(rank: Array) -> Iterator[tuple[int, Array]]:
    """Each rank that occurs, with the indices of the systems that have it."""
    for value in np.unique(rank):
        yield int(value), np.flatnonzero(rank == value)


def pivots(A: Array, count: int, first: Array | None = None, tolerance: float = 0.0) -> Array:
    """Columns that span: QR factorisation with column pivoting, of a batch.

    Each step takes the column with the largest part outside the span of those taken before, so
    the volume that they span is as large as a greedy choice makes it. Of columns that are equally
    large but for rounding it takes the first, so the choice is the same on every computer.

    A (n, m, columns)
    count: How many to take, at most the rank.
    first (columns,), optional: These are taken as long as one of them has a part above
        ``tolerance`` of its length.
    Returns (n, count): In the order in which they were taken.
    """
    rest = A.copy()
    length = np.linalg.norm(A, axis=-2)
    taken = np.zeros((A.shape[0], count), int)
    at = np.arange(A.shape[0])
    free = np.ones(length.shape, bool)
    for j in range(count):
        norms = np.where(free, np.linalg.norm(rest, axis=-2), -1.0)
        if first is not None:
            liked = free & first & (norms > tolerance * length)
            norms = np.where(liked | ~liked.any(axis=-1, keepdims=True), norms, -1.0)
        taken[:, j] = (norms >= EQUAL_PIVOTS * norms.max(axis=-1, keepdims=True)).argmax(axis=-1)
        free[at, taken[:, j]] = False
        axis = rest[at, :, taken[:, j]]
        size = np.linalg.norm(axis, axis=-1, keepdims=True)
        axis = axis / np.where(size > 0.0, size, 1.0)
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            rest = rest - axis[:, :, None] * np.einsum("ni,nij->nj", axis, rest)[:, None, :]
    return taken
