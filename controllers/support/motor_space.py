"""Equations of motion reduced to the motors: the motion of other joints follows from theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from robodyn import ActuationError, Robot
from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.simulation.loads.driven_joints import independent

from .plant import motor_speeds
from .symbols import at_speeds, dynamics, is_symbolic, times

#: Acceleration from which the inertia of each motor is computed [rad/s^2, m/s^2]. It is so large
#: that its forces are large compared with the weight, to avoid errors of rounding.
PROBE = 100.0


@dataclass(frozen=True, eq=False)
class MotorSpace:
    """Equations of motion of the ``n`` speeds ``w`` that have motors, at a state.

    ``inertia dw + bias = tau`` and ``a = follow dw + rest``; joints without motors get no force.

    Attributes
    ----------
    inertia : ndarray, shape (..., n, n) [kg m^2, kg m, kg]
    bias : ndarray, shape (..., n) [N m, N]
    follow : ndarray, shape (..., nv, n)
    rest : ndarray, shape (..., nv) [rad/s^2, m/s^2]
    """

    inertia: FloatArray
    bias: FloatArray
    follow: FloatArray
    rest: FloatArray


#: (q, v, s, base, t) -> ``C(q, v) s`` over all speeds, zero where there are no motors.
Coriolis = Callable[[FloatArray, FloatArray, FloatArray, Any, float], FloatArray]

#: (q, v, base, t) -> the equations of motion; the base as `symbols.base_at` gives it.
AtState = Callable[[FloatArray, FloatArray, Any, float], MotorSpace]


def motor_space(robot: Robot) -> AtState:
    """The function ``(q, v, base, t) -> MotorSpace`` of a robot, over numbers or symbols.

    Raises
    ------
    ActuationError
        If there are no motors, or loops tie them to each other.
    """
    motors = motor_speeds(robot)
    if not motors:
        raise ActuationError(f"{robot.name!r} has no motors: there is nothing to control it with")
    if len(motors) == robot.nv and not robot.nc:
        return joint_space(robot)
    if not independent(robot, robot.at(0.0).neutral(), motors):
        raise ActuationError(
            f"{robot.name!r} has more motors than motions, so that its loops tie motors "
            f"{', '.join(robot.actuated_joints)} to each other: name fewer of them as actuators"
        )
    return _of_driven_motors(robot, motors)


def joint_space(robot: Robot) -> AtState:
    """The same over all speeds of a tree, as if each had a motor."""

    def at(q: FloatArray, v: FloatArray, base: Any, t: float) -> MotorSpace:
        now = robot.at(t)
        M, h = now.mass_matrix(q), now.bias_forces(q, v, base=base)
        return MotorSpace(M, h, np.eye(robot.nv), np.zeros(robot.nv))

    return at


def _of_driven_motors(robot: Robot, motors: tuple[int, ...]) -> AtState:
    at, n = list(motors), len(motors)
    slopes = cache(lambda: _slopes(robot, motors))

    def in_symbols(q: FloatArray, v: FloatArray, base: Any, t: float) -> MotorSpace:
        given = {"q": q, "v": v, "a_controlled": np.zeros(n), "tau_free": np.zeros(robot.nv - n)}
        rest, forces = dynamics(robot, "hybrid_dynamics", given, base, t, controlled=motors)
        follow, inertia = dynamics(robot, slopes(), given, base, t)
        return MotorSpace(inertia[at], forces[at], follow, rest)

    def in_numbers(q: FloatArray, v: FloatArray, base: Any, t: float) -> MotorSpace:
        probes = PROBE * np.vstack([np.zeros(n), np.eye(n)])
        a, tau = robot.at(t).driven_dynamics(
            q[..., None, :], v[..., None, :], probes, np.zeros((n + 1, robot.nv - n)), motors,
            base=base,
        )  # fmt: skip
        rest, bias = a[..., 0, :], tau[..., 0, at]
        follow = np.swapaxes((a[..., 1:, :] - rest[..., None, :]) / PROBE, -1, -2)
        inertia = np.swapaxes((tau[..., 1:, at] - bias[..., None, :]) / PROBE, -1, -2)
        return MotorSpace(inertia, bias, follow, rest)

    return lambda q, v, base, t: (in_symbols if is_symbolic(q) else in_numbers)(q, v, base, t)


def _slopes(robot: Robot, motors: tuple[int, ...]) -> Function:
    """Derivatives of accelerations and forces with respect to the accelerations of motors."""
    return robot.function("hybrid_dynamics", controlled=motors).jacobian("a_controlled")


def motor_coriolis(robot: Robot) -> Coriolis:
    """The function ``(q, v, s, base, t) -> C(q, v) s``, so that ``dM/dt - 2 C`` is skew.

    For robots whose motors set all joints, but for those of a floating base. Forces ``Q(w, w)``
    that grow with the square of the speeds ``w`` of motors make ``C(w) s = Q(w, s)``, which is
    symmetric, as Christoffel's symbols are: ``4 Q(w, s) = Q(w + s, w + s) - Q(w - s, w - s)``. They
    are what ``(h(w) + h(-w)) / 2`` of the bias adds to its value at rest.
    """
    space = motor_space(robot)
    motors = list(motor_speeds(robot))

    def squares(q: FloatArray, w: FloatArray, base: Any, t: float) -> FloatArray:
        return 0.5 * (space(q, w, base, t).bias + space(q, -w, base, t).bias)

    def product(q: FloatArray, v: FloatArray, s: FloatArray, base: Any, t: float) -> FloatArray:
        follow = space(q, v, base, t).follow
        w, other = times(follow, v[..., motors]), times(follow, s[..., motors])
        found = 0.25 * (squares(q, w + other, base, t) - squares(q, w - other, base, t))
        return at_speeds(motors, found, robot.nv)

    return product
