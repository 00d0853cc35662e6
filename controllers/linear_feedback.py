"""Forces that are linear in what a state is off from a wanted one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn import ActuationError, Robot
from robodyn.array_types import FloatArray

__all__ = ["is_flat", "linear_feedback", "state_error"]


def is_flat(robot: Robot) -> bool:
    """Whether coordinates add: no joint turns by a quaternion or in its own axes."""
    joints = (robot.joints[name] for name in robot.joint_names)
    return all(joint.kind.coordinates.flat for joint in joints)


def state_error(
    robot: Robot,
) -> Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]:
    """The function ``(q, v, q_ref, v_ref) -> x``: what states are off, shape (..., 2 nv).

    It is the motion from the wanted position, and the difference of speeds. Of symbols there is
    none, an `ActuationError`, where coordinates do not add.
    """
    if is_flat(robot):
        return lambda q, v, q_ref, v_ref: np.concatenate([q - q_ref, v - v_ref], axis=-1)

    def error(q: FloatArray, v: FloatArray, q_ref: FloatArray, v_ref: FloatArray) -> FloatArray:
        if q.dtype == object:
            raise ActuationError(f"joints of {robot.name!r} turn by quaternions")
        return np.concatenate([robot.difference(q_ref, q), v - v_ref], axis=-1)

    return error


def linear_feedback(
    motors: tuple[int, ...], nv: int, tau: FloatArray, gains: FloatArray, error: FloatArray
) -> FloatArray:
    """``tau + gains error`` at the motors, zero elsewhere, shape (..., nv).

    Parameters
    ----------
    motors : tuple of int
        Where m motors stand in v.
    nv : int
    tau : ndarray, shape (m,)
    gains : ndarray, shape (m, n)
    error : ndarray, shape (..., n)
    """
    forces = tau + error @ gains.T
    result = np.zeros((*error.shape[:-1], nv), forces.dtype)
    result[..., list(motors)] = forces
    return result
