"""Inverse dynamics with motors alone: their torques for accelerations, and those that stand.

Other joints follow the motors: `MotorSpace` has the equations of motion reduced to these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from robodyn import ActuationError, Robot
from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.equations.tree.composite_body import factorize, inverse, solve
from robodyn.model.winding_motors import refuse_voltages
from robodyn.simulation.loads.actuated_speeds import joints_of
from robodyn.simulation.loads.driven_joints import independent
from robodyn.symbolic.scalar import if_not_negative
from robodyn.tolerances import CONSTRAINT_RANK, UNCOUPLED_MOTOR

from .frames import mobility
from .plant import at_motors, motor_mask, motor_speeds, speeds_of
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
        If there are no motors, loops tie them to each other, or they are commanded by voltage.
    """
    refuse_voltages(robot.model, "this law commands")
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


#: (q, v, a, base, t) -> tau, each over all speeds; the base as `symbols.base_at` gives it.
MotorTorques = Callable[[FloatArray, FloatArray, FloatArray, Any, float], FloatArray]


def motor_torques(robot: Robot, controlled: tuple[str, ...] | None = None) -> MotorTorques:
    """The function ``(q, v, a, base, t) -> tau`` for the motors of a robot.

    It takes numbers, or symbols where there is straight-line code.

    The elements of ``a``, shape (..., nv), for controlled joints are used; by default, those for
    joints with motors.

    Raises
    ------
    UnknownNameError, ActuationError
        If there is no such joint, the number of their speeds differs from that of motors, or these
        are commanded by voltage.
    """
    refuse_voltages(robot.model, "this law commands")
    motors = motor_speeds(robot)
    if controlled is not None and (chosen := speeds_of(robot, controlled)) != motors:
        return _of_others(robot, motors, chosen)
    if len(motors) == robot.nv and not robot.nc:
        return lambda q, v, a, base, t: robot.at(t).inverse_dynamics(q, v, a, base=base)
    if independent(robot, robot.at(0.0).neutral(), motors):
        return _with_free_joints(robot, motors)
    return _of_redundant_motors(robot, motors)


def _with_free_joints(robot: Robot, motors: tuple[int, ...]) -> MotorTorques:
    """Torques for accelerations of motors; other joints move freely."""
    at, rest = list(motors), robot.nv - len(motors)

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        wanted = a[..., at]
        free = np.zeros((*wanted.shape[:-1], rest))
        return robot.at(t).driven_dynamics(q, v, wanted, free, motors, base=base)[1]

    return torques


def _of_others(robot: Robot, motors: tuple[int, ...], chosen: tuple[int, ...]) -> MotorTorques:
    """Torques of motors for accelerations of other joints [Spong 1994]."""
    joints, space = list(chosen), motor_space(robot)
    if len(chosen) != len(motors):
        raise ActuationError(
            f"the controlled joints of {robot.name!r} have {len(chosen)} speeds and its motors "
            f"{len(motors)} (joints: {', '.join(robot.actuated_joints)}): as many are needed"
        )

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        state = space(q, v, base, t)
        B, missing = state.follow[..., joints, :], (a - state.rest)[..., joints]
        if is_symbolic(q):
            try:
                w = np.array(_square_solution(B, missing), object)
            except ZeroDivisionError:
                raise _uncoupled(robot, joints) from None
        else:
            if (mobility(B) < UNCOUPLED_MOTOR).any():
                raise _uncoupled(robot, joints)
            w = np.linalg.solve(B, missing[..., None])[..., 0]
        return at_speeds(motors, state.bias + times(state.inertia, w), robot.nv)

    return torques


def _square_solution(A: FloatArray, b: FloatArray) -> list[Any]:
    """``A x = b`` in symbols, by ``(A^T A)^-1 A^T b``; NaN if A is nearly singular."""
    factors = factorize([list(row) for row in A.T @ A], dict.fromkeys(range(len(b)), 1.0))
    x = solve(factors, list(A.T @ b))
    trace = sum((row[k] for k, row in enumerate(inverse(factors))), 0.0)
    return if_not_negative(x, 1.0 - trace * UNCOUPLED_MOTOR**2)


def _uncoupled(robot: Robot, joints: list[int]) -> ActuationError:
    names = ", ".join(joints_of(robot, joints))
    return ActuationError(
        f"the motors of {robot.name!r} do not accelerate the controlled joints {names} "
        "independently in this posture: they are not coupled by inertia"
    )


def _of_redundant_motors(robot: Robot, motors: tuple[int, ...]) -> MotorTorques:
    """Torques of redundant motors, for the nearest accelerations that the loops allow."""
    mask = motor_mask(robot)
    others = np.flatnonzero(mask == 0.0)

    def torques(q: FloatArray, v: FloatArray, a: FloatArray, base: Any, t: float) -> FloatArray:
        if is_symbolic(q):
            raise ActuationError(f"{robot.name!r} has more motors than motions")
        now = robot.at(t)
        K, bias = now.loop_jacobian(q), now.loop_bias(q, v)
        fitting = at_motors(mask, a)
        fitting[..., others] = -least(K[..., others], bias + times(K, fitting))
        fitting = fitting - least(K, bias + times(K, fitting))
        if stands(robot):
            return standing_forces(now, q, v, fitting, motors)
        return mask * now.inverse_dynamics(q, v, fitting, base=base)

    return torques


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
    return at_speeds(motors, least(S - borne @ S, needed - times(borne, needed)), robot.nv)


def least(A: FloatArray, y: FloatArray) -> FloatArray:
    """``x`` of least norm with ``A x`` as near to ``y`` as can be."""
    return times(np.asarray(np.linalg.pinv(A, rcond=CONSTRAINT_RANK), np.float64), y)
