"""Accelerations and multipliers of a constrained mechanism, whatever its rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.constraints.decomposition import RANK_TOLERANCE, Decomposition, decompose, groups
from robodyn.constraints.methods import METHODS, cholesky, is_definite
from robodyn.constraints.scaling import Scaled, checked, flat, scaled
from robodyn.errors import SingularError, UnknownNameError

__all__ = [
    "ConstrainedSolution",
    "constrained_accelerations",
    "relative_residual",
    "solve_decomposed",
]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ConstrainedSolution:
    """Solution of ``M a = force + K^T lam``, ``K a = -k``.

    Attributes
    ----------
    a : ndarray, shape (..., nv)
        Accelerations [m/s^2, rad/s^2].
    multipliers : ndarray, shape (..., nc)
        lam [N, N m]; of least 2-norm where redundant constraints leave a choice.
    rank : ndarray of int, shape (...)
        Of K.
    residual : ndarray, shape (...)
        Largest ``|K a + k|`` relative to its terms; above rounding where redundant constraints
        have right sides that contradict each other.
    method : str
        The one that was used.
    """

    a: Array
    multipliers: Array
    rank: Array
    residual: Array
    method: str


def constrained_accelerations(
    M: ArrayLike,
    force: ArrayLike,
    K: ArrayLike,
    k: ArrayLike,
    method: str = "auto",
    *,
    tolerance: float = RANK_TOLERANCE,
) -> ConstrainedSolution:
    """Solve ``M a = force + K^T lam``, ``K a = -k`` [Mufti 1983, (10); Wittenburg 1977, (5.202)].

    The acceleration is unique if M is positive definite on the motions that K leaves, whatever the
    rank of K. Multipliers of redundant constraints are not; those of least 2-norm are returned.
    Redundant constraints with contradicting right sides are met in the least squares sense; see
    ``residual``.

    Parameters
    ----------
    M : array_like, shape (..., nv, nv)
        Mass matrix [kg, kg m, kg m^2].
    force : array_like, shape (..., nv)
        Generalised force tau - h [N, N m].
    K : array_like, shape (..., nc, nv)
        Constraint Jacobian, rows in any units.
    k : array_like, shape (..., nc)
        Kdot v and stabilisation terms.
    method : {"auto", "kkt", "schur", "nullspace", "partition"}
        All give one answer. "auto" takes "nullspace" if few motions are left or M is singular,
        else "schur".
    tolerance : float
        Scaled singular values below this part of the largest one count as zero.

    Returns
    -------
    ConstrainedSolution

    Raises
    ------
    SingularError
        If M is singular on the motions that the constraints leave; ``.rows`` are the systems of
        the flattened batch.
    ShapeError
    """
    if method != "auto" and method not in METHODS:
        raise UnknownNameError("method", method, ("auto", *METHODS))
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    batch, (M, force, K, k) = flat(
        (checked("M", M, nv, nv), 2),
        (checked("force", force, nv), 1),
        (K, 2),
        (checked("k", k, nc), 1),
    )
    solution = solve_decomposed(decompose(scaled(K, M), tolerance), M, force, k, method)
    return ConstrainedSolution(
        solution.a.reshape(*batch, nv),
        solution.multipliers.reshape(*batch, nc),
        solution.rank.reshape(batch),
        solution.residual.reshape(batch),
        solution.method,
    )


def solve_decomposed(
    parts: Decomposition, M: Array, force: Array, k: Array, method: str
) -> ConstrainedSolution:
    """`constrained_accelerations` of a flat batch whose K is decomposed already.

    Parameters
    ----------
    parts : Decomposition
        Of K.
    M : ndarray, shape (n, nv, nv)
    force : ndarray, shape (n, nv)
    k : ndarray, shape (n, nc)
    method : str
    """
    columns = parts.scaled.columns
    M = M / (columns[:, :, None] * columns[:, None, :])
    force = force / columns
    definite = cholesky(M) is not None
    if not definite:
        _check_restricted(parts, M)
    if method == "auto":
        few = 2 * int(parts.rank.max(initial=0)) > M.shape[-1]
        method = "nullspace" if few or not definite else "schur"
    a, lam = np.zeros(force.shape), np.zeros(k.shape)
    for rank, at in groups(parts.rank):
        reduced = parts.reduced(at, rank)
        right = reduced.right_side(k[at])
        a[at], mu = METHODS[method](M[at], force[at], reduced.matrix, right)
        lam[at] = reduced.multipliers(mu)
    residual = relative_residual(parts.scaled, a, force, k)
    return ConstrainedSolution(a / columns, lam, parts.rank, residual, method)


def _check_restricted(parts: Decomposition, M: Array) -> None:
    """Raise unless the scaled M is positive definite on each null space."""
    singular: list[int] = []
    for rank, at in groups(parts.rank):
        Z = parts.null(at, rank)
        singular += at[~is_definite(np.swapaxes(Z, -1, -2) @ M[at] @ Z)].tolist()
    if singular:
        where = f" in rows {sorted(singular)} of the batch" if len(parts.rank) > 1 else ""
        raise SingularError(
            "the mass matrix is not positive definite on the motions that the constraints "
            f"leave{where}: a link without inertia can move freely there",
            rows=tuple(sorted(singular)),
        )


def relative_residual(scaled: Scaled, a: Array, force: Array, k: Array) -> Array:
    """Largest ``|K a + k|`` over its terms (n,); accelerations without constraints count too.

    Parameters
    ----------
    scaled : Scaled
    a, force : ndarray, shape (n, nv)
        Of scaled speeds.
    k : ndarray, shape (n, nc)
    """
    K = scaled.matrix
    right = scaled.rows * k
    error = np.abs((K @ a[..., None])[..., 0] + right)
    largest = np.abs(a) + np.abs(force)
    terms = (np.abs(K) @ largest[..., None])[..., 0] + np.abs(right)
    size = terms.max(axis=-1, initial=0.0)
    return np.asarray(error.max(axis=-1, initial=0.0) / np.where(size > 0.0, size, 1.0))
