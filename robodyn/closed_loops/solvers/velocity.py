"""Velocities that satisfy constraints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked
from robodyn.closed_loops.solvers.scaling import flat, scaled, speed_set
from robodyn.closed_loops.solvers.solve import constrained_accelerations
from robodyn.errors import AssemblyError
from robodyn.tolerances import LOOP_VELOCITY


def project_velocity(
    K: ArrayLike,
    v: ArrayLike,
    M: ArrayLike | None = None,
    *,
    free: ArrayLike | None = None,
    rhs: ArrayLike | None = None,
    tolerance: float = LOOP_VELOCITY,
) -> Array:
    """Nearest velocity with ``K v = -psi`` [Wittenburg 1977, (5.195)].

    Nearest in the norm of the kinetic energy of the difference if M is given (what an impact of
    the loops closing would do), else in the 2-norm.

    K (..., nc, nv)
    v (..., nv): Wanted velocity [m/s, rad/s].
    M (..., nv, nv), optional: Mass matrix.
    free, optional: Indices of speeds that may change, or a mask (nv,); default all. The others keep
        v.
    rhs (..., nc), optional: psi: explicit time derivatives of the constraints; default zero.
    tolerance: Relative to the terms of ``K v + psi``.
    Returns (..., nv)
    Raises AssemblyError: If the held speeds contradict the constraints; ``.residual`` (nc,) is what
        is left, in the first such row of the batch.
    """
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    mass = np.eye(nv) if M is None else checked("M", M, nv, nv)
    psi = np.zeros(nc) if rhs is None else checked("rhs", rhs, nc)
    batch, (K, v, mass, psi) = flat((K, 2), (checked("v", v, nv), 1), (mass, 2), (psi, 1))
    f = np.arange(nv) if free is None else speed_set("free", free, nv)

    error = (K @ v[..., None])[..., 0] + psi
    result = v + constrained_accelerations(mass, np.zeros(v.shape), K, error, free=f).a
    whole = scaled(K, None if M is None else mass)
    _check(K * whole.rows[:, :, None], v, result, whole.rows * psi, whole.rows, tolerance)
    return result.reshape(*batch, nv)


def _check(K: Array, wanted: Array, v: Array, psi: Array, rows: Array, tolerance: float) -> None:
    left = (K @ v[..., None])[..., 0] + psi
    terms = (np.abs(K) @ np.maximum(np.abs(v), np.abs(wanted))[..., None])[..., 0] + np.abs(psi)
    bad = np.abs(left) > tolerance * terms.max(axis=-1, keepdims=True, initial=0.0)
    if bad.any():
        row = int(np.flatnonzero(bad.any(axis=-1))[0])
        where = f" (row {row} of the batch)" if len(v) > 1 else ""
        residual = left[row] / rows[row]
        raise AssemblyError(
            f"the speeds that are held contradict the constraints{where}: constraints "
            f"{np.flatnonzero(bad[row]).tolist()} are missed by up to "
            f"{np.abs(residual).max():.3g}; hold fewer speeds, or values that fit together",
            residual=residual,
        )
