"""The motors of a robot, and the motion of its base."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from robodyn import ActuationError, BaseMotion, BasePath, Robot, ShapeError
from robodyn.array_types import FloatArray
from robodyn.model.virtual_work import generalised, joint_forces
from robodyn.motion.base_motion import not_moving_error
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.loads.actuated_speeds import actuated_speeds, coordinates_of_motors

from .symbols import at_speeds

#: Motion of the base: constant, or a function of time [s].
Base = BaseMotion | Callable[[float], BaseMotion]


#: Indices in v of the speeds that motors act on, ascending.
motor_speeds = actuated_speeds


def speeds_of(robot: Robot, joints: Iterable[str]) -> tuple[int, ...]:
    """Indices of some joints in v, ascending."""
    moved = [robot.joints[name].v for name in joints]
    return tuple(sorted({k for at in moved for k in range(at.start, at.stop)}))


@once_per_robot
def motor_mask(robot: Robot) -> FloatArray:
    """One for each speed with a motor, zero for the others, shape (nv,)."""
    mask = np.zeros(robot.nv)
    mask[list(motor_speeds(robot))] = 1.0
    mask.flags.writeable = False
    return mask


def by_motors(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """The part of generalised forces that motors exert, shape (..., nv), in numbers or symbols.

    Raises
    ------
    ActuationError
        If motors of a linkage, at joints that follow others, cannot exert them.
    """
    if not robot.model.gearing.elsewhere or tau.dtype == object:
        return np.asarray(motor_mask(robot) * tau)
    B = robot.actuation_matrix(q)
    return generalised(B, joint_forces(robot.model, lambda: B, tau))


def at_motors(mask: FloatArray, wanted: FloatArray, others: FloatArray | float = 0.0) -> FloatArray:
    """One array at the speeds of joints with motors, and another one at all others.

    Parameters
    ----------
    mask : ndarray, shape (nv,)
        From `motor_mask`.
    wanted, others : ndarray, shape (..., nv), or number
        Numbers or symbols.
    """
    return np.where(mask > 0.0, wanted, others)


def motor_error(
    robot: Robot, joints: Iterable[str] | None = None
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The function ``(q, q_ref) -> error`` over all speeds, zero at those without a motor.

    Where the coordinates of all joints with motors add, it uses no others. Other joints may be
    named instead.
    """
    names = coordinates_of_motors(robot) if joints is None else tuple(joints)
    moved = [robot.joints[name] for name in names]
    if not all(joint.kind.coordinates.flat for joint in moved):
        mask = np.zeros(robot.nv)
        mask[list(speeds_of(robot, names))] = 1.0
        own = np.zeros(robot.nq, bool)
        for joint in moved:
            own[joint.q] = True
        return lambda q, q_ref: mask * robot.difference(q, np.where(own, q_ref, q))
    coordinates = [k for joint in moved for k in range(joint.q.start, joint.q.stop)]
    speeds = [k for joint in moved for k in range(joint.v.start, joint.v.stop)]

    def error(q: FloatArray, q_ref: FloatArray) -> FloatArray:
        return at_speeds(speeds, q_ref[..., coordinates] - q[..., coordinates], robot.nv)

    return error


def refuse_passive(robot: Robot, why: str, *, floats: bool) -> None:
    """Check that the motors of a robot determine all of its motions, with one motor for each.

    Parameters
    ----------
    why : str
        What needs that, and what to do, for the error.
    floats : bool
        Motions of a floating base do not count.

    Raises
    ------
    ActuationError
    """
    motions = robot.dof - (6 if floats and robot.base == "floating" else 0)
    count = len(motor_speeds(robot))
    if count != motions:
        known = ", ".join(robot.actuated_joints) or "none"
        raise ActuationError(
            f"{robot.name!r} has {motions} motions and motors at {count} speeds (joints: {known}): "
            f"{why}"
        )


def base_path(robot: Robot, base: Base | None) -> BasePath | None:
    """The motion of the base for a controller of this robot; ``None`` for a fixed base.

    Raises
    ------
    ShapeError
        If a robot with a moving base gets none, or another robot gets one.
    """
    if robot.base != "moving":
        if base is None:
            return None
        raise not_moving_error(robot.name, robot.base)
    if base is None:
        raise ShapeError(
            f"{robot.name!r} has a moving base: give the controller base=, the path that simulate "
            "gets, or BaseMotion.at_rest() where it stands still",
            name="base",
        )
    if isinstance(base, BaseMotion):
        return BasePath(lambda t: base)
    return base if isinstance(base, BasePath) else BasePath(base)
