"""Rank of constraints: independent rows, the null space, and independent speeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked
from robodyn.closed_loops.solvers.decomposition import Decomposition, decompose, groups, pivots
from robodyn.closed_loops.solvers.scaling import Scaled, flat, scaled, speed_set
from robodyn.tolerances import CONSTRAINT_RANK, DEPENDENT_ROW, PREFERRED_SPEED


class RankAnalysis:
    """Rank of a constraint Jacobian K (..., nc, nv), its independent rows and their dependencies.

    What is asked for is computed then, once: a rank takes less time than dependencies.

    batch: Leading axes of K.
    scale: Gives the scaled K.
    tolerance: As of `rank_analysis`.
    distance, optional: Another measure of the distance.
    rank (...)
    independent (..., nc): A largest set of independent rows.
    coefficients (..., nc, nc): Row i of K is the sum over j of ``coefficients[i, j]`` times row j,
        over independent j.
    depends (..., nc, nc): Whether the redundant row i needs the independent row j; all False for
        independent and for zero rows.
    singular_values (..., min(nc, nv)): Of the scaled K, descending.
    distance (...): Of the scaled K to a matrix of lower rank, which is the smallest singular value
        that is not zero; infinite if the rank is zero. `Robot.loop_rank` has another one, see
        there.
    """

    def __init__(
        self,
        batch: tuple[int, ...],
        scale: Callable[[], Scaled],
        tolerance: float,
        distance: Callable[[], Array] | None = None,
    ) -> None:
        self._batch, self._scale, self._tolerance = batch, scale, tolerance
        self._measure = distance

    def __getstate__(self) -> dict[str, Any]:
        _ = self.distance, self._parts
        return {**self.__dict__, "_measure": None, "_scale": None}

    @cached_property
    def _parts(self) -> Scaled:
        return self._scale()

    def __repr__(self) -> str:
        rows = self._parts.matrix.shape[-2]
        if self._batch:
            return f"<RankAnalysis of {rows} constraints in each of {self._batch} states>"
        return f"<RankAnalysis: rank {self.rank} of {rows} constraints>"

    def measured_by(self, distance: Callable[[], Array]) -> RankAnalysis:
        """The same with another measure of the distance."""
        return RankAnalysis(self._batch, self._scale, self._tolerance, distance)

    @cached_property
    def _found(self) -> Decomposition:
        return decompose(self._parts, self._tolerance)

    @cached_property
    def rank(self) -> Array:
        """Of K, shape (...)."""
        return self._found.rank.reshape(self._batch)

    @cached_property
    def singular_values(self) -> Array:
        """Of the scaled K, descending, shape (..., min(nc, nv))."""
        values = self._found.values
        return values.reshape(*self._batch, values.shape[-1])

    @cached_property
    def distance(self) -> Array:
        """Of the scaled K to a matrix of lower rank, shape (...)."""
        if self._measure is not None:
            return self._measure()
        found = self._found
        if not found.values.shape[-1]:
            return np.full(self._batch, np.inf)
        last = np.take_along_axis(found.values, np.maximum(found.rank[:, None] - 1, 0), axis=-1)
        return np.where(found.rank > 0, last[:, 0], np.inf).reshape(self._batch)

    @cached_property
    def independent(self) -> Array:
        """A largest set of independent rows, shape (..., nc)."""
        found = self._dependencies[0]
        return found.reshape(*self._batch, found.shape[-1])

    @cached_property
    def coefficients(self) -> Array:
        """Rows in terms of independent ones, shape (..., nc, nc)."""
        rows = self._parts.rows
        weights = self._dependencies[1] * rows[:, None, :] / rows[:, :, None]
        return weights.reshape(*self._batch, *weights.shape[-2:])

    @cached_property
    def depends(self) -> Array:
        """Which redundant rows need which independent ones, shape (..., nc, nc)."""
        independent, weights = self._dependencies
        redundant = ~independent[:, :, None] & independent[:, None, :]
        found = redundant & (np.abs(weights) > DEPENDENT_ROW)
        return found.reshape(*self._batch, *found.shape[-2:])

    @cached_property
    def _dependencies(self) -> tuple[Array, Array]:
        """Which rows are independent, and all rows in terms of them, scaled."""
        matrix = self._parts.matrix
        n, nc, _ = matrix.shape
        independent, weights = np.zeros((n, nc), bool), np.zeros((n, nc, nc))
        for rank, at in groups(self._found.rank):
            taken = pivots(np.swapaxes(matrix[at], -1, -2), rank)
            independent[at[:, None], taken] = True
            weights[at] = _in_terms_of(matrix[at], taken)
        return independent, weights

    def redundant(self, row: tuple[int, ...] = ()) -> dict[int, tuple[int, ...]]:
        """Redundant rows of K and the independent ones that each follows from.

        row: Index of the leading axes; empty for one system.
        """
        free, depends = self.independent[row], self.depends[row]
        return {
            int(i): tuple(int(j) for j in np.flatnonzero(depends[i])) for i in np.flatnonzero(~free)
        }


def rank_analysis(
    K: ArrayLike, M: ArrayLike | None = None, *, tolerance: float = CONSTRAINT_RANK
) -> RankAnalysis:
    """Rank, independent rows and dependencies of constraints [Mufti 1983, App.; Wittenburg p. 177].

    Columns are scaled by the inertias if M is given and rows to unit norm, so that metres and
    radians can be compared. Independent rows are found by QR factorisation of K^T with column
    pivoting.

    K (..., nc, nv): Rows in any units.
    M (..., nv, nv), optional: Mass matrix.
    tolerance: Scaled singular values below this part of the largest one count as zero.
    """
    K = checked("K", K, None, None).copy()  # the caller's may change
    if M is not None:
        nv = K.shape[-1]
        M = checked("M", M, nv, nv).copy()
    batch = K.shape[:-2] if M is None else flat((K, 2), (M, 2))[0]
    return RankAnalysis(batch, lambda: _scaled(K, M)[1], tolerance)


def _scaled(K: ArrayLike, M: ArrayLike | None) -> tuple[tuple[int, ...], Scaled]:
    K = checked("K", K, None, None)
    if M is None:
        batch, (K,) = flat((K, 2))
        return batch, scaled(K)
    nv = K.shape[-1]
    batch, (K, M) = flat((K, 2), (checked("M", M, nv, nv), 2))
    return batch, scaled(K, M)


def distance_to_rank_below(K: Array, rank: int) -> Array:
    """Distance of K (..., nc, nv) to a matrix of lower than a given rank, shape (...).

    It is the singular value of that number; rows are not scaled, so that it vanishes where they do.
    """
    if not rank:
        return np.full(K.shape[:-2], np.inf)
    return np.asarray(np.linalg.svd(K, compute_uv=False)[..., rank - 1])


def _in_terms_of(rows: Array, taken: Array) -> Array:
    """Coefficients of all rows (n, nc, nv) in those taken (n, rank): (n, nc, nc)."""
    n, nc, _ = rows.shape
    at = np.arange(n)[:, None]
    basis = np.swapaxes(rows[at, taken], -1, -2)
    Q, R = np.linalg.qr(basis)
    inside = np.linalg.solve(R, np.swapaxes(Q, -1, -2) @ np.swapaxes(rows, -1, -2))
    weights = np.zeros((n, nc, nc))
    weights[at, :, taken] = inside
    weights[at, taken] = np.eye(nc)[taken]
    return weights


def null_space(
    K: ArrayLike, M: ArrayLike | None = None, *, tolerance: float = CONSTRAINT_RANK
) -> Array:
    """Orthonormal basis of the motions that constraints leave, ``K Z = 0``, ``Z^T Z = 1``.

    K (nc, nv)
    M (nv, nv), optional: Mass matrix; only scales what counts as zero.
    Returns (nv, nv - rank)
    """
    found = decompose(_scaled(K, M)[1], tolerance)
    Z = found.null(np.zeros(1, int), int(found.rank[0])) / found.scaled.columns[:, :, None]
    return np.asarray(Z[0] if M is None else np.linalg.qr(Z[0])[0])


def independent_speeds(
    K: ArrayLike,
    preferred: ArrayLike = (),
    M: ArrayLike | None = None,
    *,
    tolerance: float = CONSTRAINT_RANK,
) -> tuple[int, ...]:
    """Choose speeds that determine the others: preferred ones first [Wehage and Haug 1982].

    Pivoting of the null space takes the speeds whose rows span the largest volume.

    K (nc, nv)
    preferred: Indices of speeds, e.g. the actuated ones.
    M (nv, nv), optional: Mass matrix; compares speeds in m/s and rad/s by their kinetic energy.
    tolerance: For the rank of K.
    Returns: Their indices, ascending.
    """
    K = checked("K", K, None, None)
    nv = K.shape[-1]
    first = np.zeros(nv, bool)
    first[speed_set("preferred", preferred, nv)] = True
    Z = null_space(K, M, tolerance=tolerance)
    weight = np.ones(nv) if M is None else np.sqrt(np.abs(np.diagonal(checked("M", M, nv, nv))))
    basis, _ = np.linalg.qr(np.where(weight > 0.0, weight, 1.0)[:, None] * Z)
    chosen = pivots(basis.T[None], Z.shape[1], first, PREFERRED_SPEED)[0]
    return tuple(int(j) for j in np.sort(chosen))
