"""Motor forces of a floating robot that constraints hold, such as one that stands on its feet."""

from __future__ import annotations

import numpy as np

from robodyn import Robot
from robodyn.array_types import FloatArray
from robodyn.tolerances import CONSTRAINT_RANK

from .symbols import times


def stands(robot: Robot) -> bool:
    """Whether the base is floating, and loops or constraints act."""
    return robot.base == "floating" and bool(robot.nc)


def standing_forces(
    robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, motors: tuple[int, ...]
) -> FloatArray:
    """Forces of the motors alone, of least norm, with which constraints give accelerations.

    Nothing pushes the base: ``M a + h = S tau + K^T lam`` with the columns ``S`` of the motors.
    Where motors cannot give these accelerations it holds as nearly as it can.

    Parameters
    ----------
    robot : Robot
        At a time.
    q, v, a : ndarray, shape (..., nq), (..., nv), (..., nv)
    motors : tuple of int
        Speeds at which they act.

    Returns
    -------
    tau : ndarray, shape (..., nv) [N m, N]
    """
    needed = times(robot.mass_matrix(q), a) + robot.bias_forces(q, v)
    K_T = np.swapaxes(robot.loop_jacobian(q), -1, -2)
    S = np.eye(robot.nv)[:, list(motors)]
    borne = K_T @ np.linalg.pinv(K_T, rcond=CONSTRAINT_RANK)  # what constraints bear of forces
    tau = np.zeros(needed.shape)
    tau[..., list(motors)] = least(S - borne @ S, needed - times(borne, needed))
    return tau


def least(A: FloatArray, y: FloatArray) -> FloatArray:
    """``x`` of least norm with ``A x`` as near to ``y`` as can be."""
    return times(np.asarray(np.linalg.pinv(A, rcond=CONSTRAINT_RANK), np.float64), y)
