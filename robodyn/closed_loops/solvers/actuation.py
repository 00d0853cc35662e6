"""Motor torques of closed linkages: inverse dynamics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked
from robodyn.closed_loops.solvers.decomposition import decompose, groups
from robodyn.closed_loops.solvers.scaling import flat, scaled, speed_set
from robodyn.errors import ActuationError
from robodyn.tolerances import ACTUATION_RANK, CONSTRAINT_RANK


def actuate(
    g: ArrayLike,
    K: ArrayLike,
    actuated: ArrayLike,
    *,
    scale: float = 0.0,
    tolerance: float = ACTUATION_RANK,
) -> tuple[Array, Array]:
    """Forces of motors that produce a motion, ``tau + K^T lam = g``.

    The motions Z that the loops leave see ``Z^T tau = Z^T g`` [Mufti 1983, (40)]: of all forces of
    motors that satisfy this, those of least 2-norm are taken; lam balances the rest.

    g (..., nv): Generalised force needed, M a + h [N, N m].
    K (..., nc, nv): Constraint Jacobian.
    actuated: Indices of speeds that motors act on, or a mask (nv,); or an actuation matrix, shape
        (..., nv, m), of motors at joints without speeds.
    scale: Size of the forces that cancel in g [N, N m]; what is small beside it is rounding.
    tolerance: Relative to the largest part of g, and to ``scale``.
    Returns tau (..., nv): Generalised forces, zero except at actuated speeds [N, N m].
    Returns multipliers (..., nc): lam of least 2-norm [N, N m].
    Raises ActuationError: If the motors cannot produce g. ``.direction`` (nv,) is a motion that the
        loops allow, in which the motors stand still and g does work.
    """
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    matrix = _matrix(actuated, nv)
    batch, (g, K, B) = flat((checked("g", g, nv), 1), (K, 2), (matrix, 2))
    parts = decompose(scaled(K), CONSTRAINT_RANK)
    tau, lam = np.zeros(g.shape), np.zeros((len(g), nc))
    for rank, at in groups(parts.rank):
        Z = parts.null(at, rank)
        tau[at] = _least_torques(Z, g[at], B[at], tolerance)
        rest = g[at] - tau[at]
        missing = np.einsum("nij,ni->nj", Z, rest)
        size = np.maximum(np.abs(g[at]).max(axis=-1, initial=0.0), scale)
        bad = np.linalg.norm(missing, axis=-1) > tolerance * size
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise _cannot(Z[row] @ missing[row], g[at[row]], B[at[row]], int(at[row]), len(g))
        lam[at] = parts.multipliers(at, rank, rest)
    return tau.reshape(*batch, nv), lam.reshape(*batch, nc)


def _matrix(actuated: ArrayLike, nv: int) -> Array:
    """The actuation matrix, which picks speeds where these are given."""
    given = np.asarray(actuated)
    if given.ndim > 1:
        return np.asarray(given, float)
    return np.eye(nv)[:, speed_set("actuated", actuated, nv)]


def _least_torques(Z: Array, g: Array, B: Array, tolerance: float) -> Array:
    """``B f`` (n, nv) of the least f with ``Z^T B f = Z^T g``, in the least squares sense."""
    need = np.einsum("nij,ni->nj", Z, g)
    work = np.swapaxes(Z, -1, -2) @ B
    if not work.size:
        return np.zeros(g.shape)
    U, values, Vt = np.linalg.svd(work, full_matrices=False)
    driven = values > tolerance
    inside = np.einsum("nij,ni->nj", U, need)
    inside = np.where(driven, inside / np.where(driven, values, 1.0), 0.0)
    return np.asarray(np.einsum("nij,nkj,nk->ni", B, Vt, inside))


def _cannot(motion: Array, g: Array, B: Array, row: int, count: int) -> ActuationError:
    motors = np.flatnonzero(np.abs(B).any(axis=1))
    direction = motion / np.abs(motion).max()
    shown = ", ".join(
        f"{value:.3g} at speed {j}" for j, value in enumerate(direction) if abs(value) > 1e-6
    )
    where = f" (row {row} of the batch)" if count > 1 else ""
    return ActuationError(
        f"motors at the speeds {motors.tolist()} cannot produce this motion{where}: with them at "
        f"rest the linkage can still move ({shown}), and that direction needs a generalised "
        f"force of {float(direction @ g):.6g}",
        direction=direction,
    )
