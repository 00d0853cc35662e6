"""On which side of the postures where branches meet a linkage is: the sign of a determinant.

The determinant is that of the dependent columns of K. Where some rows of K are independent at every
posture it is theirs. Where rows stay together in groups, K is first projected on the range that it
has at a reference posture; of several references the one is taken whose range is nearest. They are
given signs that agree along a walk, so the determinant vanishes only where branches meet.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.analysis import LoopAnalysis

__all__ = ["BranchSign"]


#: Decimals of a determinant of unit rows that count.
DECIMALS = 9

#: Part of a unit volume that is left when the range at a posture is projected on a reference.
NEAR = 0.5


class BranchSign:
    """Sign of the determinant by which the independent speeds determine the others.

    Parameters
    ----------
    analysis : LoopAnalysis
        With rows that suffice at every posture.
    walks : ndarray, shape (steps, walks, nc, nv), optional
        K along walks in small steps from one posture, where rows are in groups.
    """

    def __init__(self, analysis: LoopAnalysis, walks: FloatArray | None) -> None:
        assert analysis.choice is not None
        self._rows = list(analysis.choice.rows)
        nv = len(analysis.independent) + analysis.rank
        self._dependent = [k for k in range(nv) if k not in analysis.independent]
        self._references: Array | None = None
        if walks is not None:
            self._references = _references(self._unit(walks), analysis.rank)

    def __call__(self, K: FloatArray) -> Array:
        """+1, -1, or 0 where branches meet, shape (...), for K (..., nc, nv)."""
        A = self._unit(K)
        minor = A[..., self._dependent]
        if self._references is None:
            size = np.linalg.det(minor)
        else:
            base = np.linalg.svd(A)[0][..., : len(self._dependent)]
            near = np.linalg.det(np.einsum("kij,...il->...kjl", self._references, base))
            nearest = self._references[np.abs(near).argmax(axis=-1)]
            size = np.linalg.det(np.swapaxes(nearest, -1, -2) @ minor)
        return np.asarray(np.sign(np.round(size, DECIMALS)), int)

    def _unit(self, K: FloatArray) -> Array:
        K = K[..., self._rows, :]
        size = np.linalg.norm(K, axis=-1, keepdims=True)
        return np.asarray(K / np.where(size > 0.0, size, 1.0))


def _references(K: FloatArray, rank: int) -> FloatArray:
    """Orthonormal bases (m, r, rank) of ranges of K: one of them is near to each of a walk."""
    steps = np.linalg.svd(K)[0][..., :rank]
    volumes = np.linalg.det(np.swapaxes(steps[:-1], -1, -2) @ steps[1:])
    turned = np.where(volumes < 0.0, -1.0, 1.0)
    steps[1:, :, :, 0] *= np.cumprod(turned, axis=0)[..., None]
    bases = steps.reshape(-1, *steps.shape[2:])
    chosen = [0]
    while True:
        volumes = np.abs(np.linalg.det(np.einsum("kij,nil->nkjl", bases[chosen], bases)))
        worst = int(volumes.max(axis=1).argmin())
        if volumes[worst].max() >= NEAR:
            return np.asarray(bases[chosen])
        chosen.append(worst)
