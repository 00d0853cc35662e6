"""Which of two branches of assembly a posture is on: the sign of a determinant.

The determinant is that of the dependent columns of K. Where some rows of K are independent at every
posture it is theirs. Where rows stay together in groups it is that of their parts in the range of
K, a space that turns with the posture. Its sign is followed: along a motion, or from the nearest of
many reference postures, whose signs agree along the walks that led to them. So it vanishes only
where branches meet.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.rank.analysis import LoopAnalysis

#: Number of significant decimals of a determinant of unit rows.
DECIMALS = 9


class BranchSign:
    """Sign of the determinant by which the independent speeds determine the others.

    analysis: With rows that suffice at every posture.
    walks (steps, walks, nc, nv), optional: K along walks in small steps from one posture, where
        rows are in groups.
    """

    def __init__(self, analysis: LoopAnalysis, walks: FloatArray | None) -> None:
        assert analysis.choice is not None
        self._rows = list(analysis.choice.rows)
        nv = len(analysis.independent) + analysis.rank
        self._dependent = [k for k in range(nv) if k not in analysis.independent]
        self._references: tuple[Array, Array] | None = None
        self._sizes: Array | None = None
        if walks is not None:
            sizes = np.linalg.norm(walks[..., self._rows, :], axis=-1, keepdims=True)
            self._sizes = sizes.max(axis=(0, 1))
            A = self._scaled(walks)
            U = _followed(self._range(A))
            self._references = A.reshape(-1, *A.shape[2:]), U.reshape(-1, *U.shape[2:])

    def at(self, K: FloatArray) -> Array:
        """+1, -1, or 0 where branches meet, shape (...), for K (..., nc, nv)."""
        A = self._scaled(K)
        if self._references is None:
            return _sign(A[..., self._dependent])
        flat = A.reshape(-1, *A.shape[-2:])
        near = [int(np.square(self._references[0] - one).sum(axis=(1, 2)).argmin()) for one in flat]
        U = self._range(A)
        there = self._references[1][near].reshape(U.shape)
        turned = np.linalg.det(np.swapaxes(there, -1, -2) @ U) < 0.0
        return _sign(np.swapaxes(U, -1, -2) @ A[..., self._dependent]) * np.where(turned, -1, 1)

    def along(self, K: FloatArray) -> Array:
        """Signs along motions, shape (n, ...), for K (n, ..., nc, nv)."""
        if self._references is None or not len(K):
            return self.at(K)
        A = self._scaled(K)
        sign = _sign(np.swapaxes(_followed(self._range(A)), -1, -2) @ A[..., self._dependent])
        first = self.at(K[0])
        return sign * np.where(first * sign[0] < 0, -1, 1)

    def _scaled(self, K: FloatArray) -> Array:
        """Rows without units.

        Of rows in groups the range is followed, which must not jump where a row passes through
        zero: their scale is the same at all postures.
        """
        K = K[..., self._rows, :]
        size = np.linalg.norm(K, axis=-1, keepdims=True) if self._sizes is None else self._sizes
        return np.asarray(K / np.where(size > 0.0, size, 1.0))

    def _range(self, A: Array) -> Array:
        return np.asarray(np.linalg.svd(A)[0][..., : len(self._dependent)])


def _followed(bases: Array) -> Array:
    """Orthonormal bases (n, ..., r, rank) of spaces that turn in small steps, all of one sense."""
    volumes = np.linalg.det(np.swapaxes(bases[:-1], -1, -2) @ bases[1:])
    turned = np.cumprod(np.where(volumes < 0.0, -1.0, 1.0), axis=0)
    bases = bases.copy()
    bases[1:, ..., 0] *= turned[..., None]
    return bases


def _sign(minor: Array) -> Array:
    return np.asarray(np.sign(np.round(np.linalg.det(minor), DECIMALS)), int)
