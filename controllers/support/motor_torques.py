"""Inverse dynamics with motors alone: their torques for accelerations, and those that stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn import ActuationError, Robot
from robodyn.array_types import FloatArray
from robodyn.equations.tree.factorization import factorize, inverse, solve
from robodyn.simulation.loads.actuated_speeds import joints_of
from robodyn.simulation.loads.driven_joints import independent
from robodyn.symbolic.guarded import if_not_negative
from robodyn.tolerances import CONSTRAINT_RANK, UNCOUPLED_MOTOR

from .frames import mobility
from .motor_space import motor_space
from .plant import at_motors, motor_mask, motor_speeds, speeds_of
from .symbols import at_speeds, is_symbolic, times

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
        If there is no such joint, or the number of their speeds differs from that of motors.
    """
    motors = motor_speeds(robot)
    if controlled is not None and (chosen := speeds_of(robot, controlled)) != motors:
        return _of_others(robot, motors, chosen)
    if len(motors) == robot.nv and not robot.nc:
        return lambda q, v, a, base, t: robot.at(t).inverse_dynamics(q, v, a, base=base)
    if independent(robot, robot.at(0.0).neutral(), motors):
        return _of_driven_motors(robot, motors)
    return _of_redundant_motors(robot, motors)


def _of_driven_motors(robot: Robot, motors: tuple[int, ...]) -> MotorTorques:
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
