"""The impulse of unknown forces between two samples, from the change of momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from robodyn import Robot
from robodyn.array_types import FloatArray

from .motor_space import joint_space, motor_space
from .plant import motor_speeds
from .symbols import times


class Balance(Protocol):
    """The momentum balance of a model from one sample to the next.

    Attributes
    ----------
    speeds : list of int
        Indices of the speeds along which forces are computed.
    """

    speeds: list[int]

    def at(self, q: FloatArray, v: FloatArray, base: Any, t: float) -> dict[str, FloatArray]:
        """The terms of the balance at a sample; ``base`` is from `symbols.base_at`."""

    def impulse(
        self, before: Mapping[str, FloatArray], now: Mapping[str, FloatArray], h: Any
    ) -> FloatArray:
        """Impulse of forces of motors and from outside over a time ``h`` [s], shape (..., n)."""


def balance(robot: Robot) -> Balance:
    """The balance of a robot: of the momentum of trees, else of the inertia at the motors.

    Both interpolate terms that depend on the state linearly between samples. The balance of
    momentum is about five times more accurate, but needs the Coriolis matrix of a tree that
    depends on nothing but its state.

    Raises
    ------
    ActuationError
        If there are loops and no motors, or more of these than motions.
    """
    state_alone = robot.base != "moving" and not robot.depends_on_time
    if not robot.nc and state_alone and robot.coordinates != "minimal":
        return _Momentum(robot)
    return _Inertia(robot)


class _Momentum:
    """``p = M v`` changes by ``C^T v - g + passive`` and forces [De Luca and Mattone 2003]."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self.speeds = robot, [*range(robot.nv)]

    def at(self, q: FloatArray, v: FloatArray, base: Any, t: float) -> dict[str, FloatArray]:
        """Momentum, and its rate of change without forces, shape (..., nv)."""
        robot = self._robot.at(t)
        M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
        rest = robot.passive_forces(q, v) - robot.gravity_forces(q)
        return {"momentum": times(M, v), "rest": times(np.swapaxes(C, -1, -2), v) + rest}

    def impulse(
        self, before: Mapping[str, FloatArray], now: Mapping[str, FloatArray], h: Any
    ) -> FloatArray:
        """Change of momentum that neither gravity nor the motion itself explains."""
        known = 0.5 * h * (before["rest"] + now["rest"])
        return np.asarray(now["momentum"] - before["momentum"] - known)


class _Inertia:
    """``M w' + h`` is force, with the inertia at the motors of a linkage."""

    def __init__(self, robot: Robot) -> None:
        self.speeds = [*motor_speeds(robot)] if robot.nc else [*range(robot.nv)]
        self._space = motor_space(robot) if robot.nc else joint_space(robot)

    def at(self, q: FloatArray, v: FloatArray, base: Any, t: float) -> dict[str, FloatArray]:
        """Inertia (..., n, n), bias forces and speeds (..., n)."""
        known = self._space(q, v, base, t)
        inertia = known.inertia + np.zeros((*v.shape[:-1], 1, 1))
        return {"inertia": inertia, "bias": known.bias, "speeds": v[..., self.speeds]}

    def impulse(
        self, before: Mapping[str, FloatArray], now: Mapping[str, FloatArray], h: Any
    ) -> FloatArray:
        """Mean inertia times the change of speeds, and bias forces."""
        inertia = 0.5 * (before["inertia"] + now["inertia"])
        change = times(inertia, now["speeds"] - before["speeds"])
        return np.asarray(change + 0.5 * h * (before["bias"] + now["bias"]))
