"""Torques of motors, and of nothing else, that give the motors the accelerations wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn import ActuationError, Robot
from robodyn.array_types import FloatArray
from robodyn.controllers.plant import motor_mask, motor_speeds
from robodyn.controllers.symbols import dynamics, is_symbolic
from robodyn.simulation.driven import independent

__all__ = ["motor_torques"]

#: (q, v, a, base, t) -> tau, each over all speeds; the base as `symbols.base_at` gives it.
MotorTorques = Callable[[FloatArray, FloatArray, FloatArray, Any, float], FloatArray]

#: Singular values of constraints below this part of the largest count as zero.
RANK = 1e-9


def motor_torques(robot: Robot) -> MotorTorques:
    """The function ``(q, v, a, base, t) -> tau`` that suits the motors of a robot.

    It takes numbers, or symbols where there is straight-line code.

    Of ``a``, shape (..., nv), what stands for joints with motors counts.
    """
    motors = motor_speeds(robot)
    if len(motors) == robot.nv and not robot.nc:
        return _of_all_joints(robot)
    if independent(robot, robot.neutral(t=0.0 if robot.depends_on_time else None), motors):
        return _of_driven_motors(robot, motors)
    return _of_redundant_motors(robot, motors)


def _of_all_joints(robot: Robot) -> MotorTorques:
    """Inverse dynamics."""

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        if is_symbolic(q):
            return dynamics(robot, "inverse_dynamics", {"q": q, "v": v, "a": a}, base, t)[0]
        return robot.inverse_dynamics(q, v, a, base=base, t=_time(robot, t))

    return torques


def _time(robot: Robot, t: float) -> float | None:
    return t if robot.depends_on_time else None


def _of_driven_motors(robot: Robot, motors: tuple[int, ...]) -> MotorTorques:
    """Motors have the accelerations wanted; everything else moves freely."""
    at, rest = list(motors), robot.nv - len(motors)

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        wanted = a[..., at]
        free = np.zeros((*wanted.shape[:-1], rest))
        if is_symbolic(q):
            given = {"q": q, "v": v, "a_controlled": wanted, "tau_free": free}
            return dynamics(robot, "hybrid_dynamics", given, base, t, controlled=motors)[1]
        time = _time(robot, t)
        return robot.driven_dynamics(q, v, wanted, free, motors, base=base, t=time)[1]

    return torques


def _of_redundant_motors(robot: Robot, motors: tuple[int, ...]) -> MotorTorques:
    """Motors that loops tie together have the nearest accelerations that the loops allow."""
    mask = motor_mask(robot)
    others = np.flatnonzero(mask == 0.0)

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        if is_symbolic(q):
            raise ActuationError(f"{robot.name!r} has more motors than motions")
        time = _time(robot, t)
        K, bias = robot.loop_jacobian(q, t=time), robot.loop_bias(q, v, t=time)
        fitting = mask * a
        fitting[..., others] = -_solved(K[..., others], bias + _times(K, fitting))
        fitting = fitting - _solved(K, bias + _times(K, fitting))
        return mask * robot.inverse_dynamics(q, v, fitting, base=base, t=time)

    return torques


def _times(K: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...ij,...j->...i", K, x))


def _solved(K: FloatArray, y: FloatArray) -> FloatArray:
    """``x`` of least norm with ``K x`` as near to ``y`` as can be."""
    return _times(np.asarray(np.linalg.pinv(K, rcond=RANK), np.float64), y)
