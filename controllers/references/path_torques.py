"""Torques that motion along a path needs, and their limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robodyn import PathError, Robot, SettingsError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.simulation.limits.bounds import joint_bounds_alone
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import LOOP_OPEN

from ..support.linear_feedback import is_flat
from ..support.motor_torques import motor_torques
from ..support.plant import motor_mask, refuse_passive
from .profile import limit

__all__ = ["PathTorques", "check_closed", "path_torques", "torque_limits", "torque_too_small"]

#: (q, v, a) -> tau, each over all joints, a row an instant.
PathTorques = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def path_torques(robot: Robot) -> PathTorques:
    """The function from motion to joint torques: of a closed linkage, those of its motors alone.

    For a position they are linear in accelerations, and but for friction in squares of speeds.
    """
    if not robot.nc:
        return robot.inverse_dynamics
    by_motors = motor_torques(robot)
    return lambda q, v, a: by_motors(q, v, a, None, 0.0)


def torque_limits(robot: Robot | None, torque: ArrayLike | None) -> FloatArray:
    """The largest torque of each joint that has to follow, shape (nv,) [N m, N].

    Raises
    ------
    ShapeError
        Without a robot.
    SettingsError
        For a robot whose torques do not follow from the way of its joints alone.
    ActuationError
        For a closed linkage whose motors do not set all of its motions, each by one.
    """
    if robot is None:
        raise ShapeError("torque= is given, and no robot= that takes torques", name="torque")
    expect("robot", robot, Robot)
    if robot.base != "fixed" or robot.depends_on_time or not is_flat(robot):
        what = "joints whose coordinates do not add"
        if robot.base != "fixed":
            what = f"a {robot.base} base"
        elif robot.depends_on_time:
            what = "joints or constraints that depend on time"
        raise SettingsError(
            f"{robot.name!r} has {what}: what torques a path takes, whatever its timing, is known "
            "for others only"
        )
    if robot.nc:
        refuse_passive(
            robot, "torques of motors follow from a path where they are one", floats=False
        )
    if torque is not None:
        return limit("torque", torque, robot.nv)
    given = joint_bounds_alone(robot, "torque= [N m, N]")
    if robot.nc:  # nothing else has a torque
        given = np.where(motor_mask(robot) > 0.0, given, np.inf)
    if not np.isfinite(given).any():
        raise SettingsError(f"{robot.name!r} gives no limits of torques: give torque=")
    return given


def check_closed(robot: Robot, times: FloatArray, q: FloatArray) -> None:
    """Refuse a path along which loops are open.

    Raises
    ------
    ShapeError
        For a path of another number of joints.
    PathError
        With the time.
    """
    if q.shape[-1] != robot.nq:
        raise ShapeError(
            f"the path gives {q.shape[-1]} positions, and {robot.name!r} has {robot.nq} "
            f"coordinates: {', '.join(robot.joint_names)}",
            name="path",
            given=q.shape[-1],
            expected=robot.nq,
        )
    if not robot.nc:
        return
    gap = np.abs(robot.loop_residual(q)).max(axis=-1)
    if (gap > LOOP_OPEN).any():
        k = int((gap > LOOP_OPEN).argmax())
        raise PathError(
            f"at t = {times[k]:.6g} s the path leaves the loops of {robot.name!r} open by "
            f"{gap[k]:.3g} (m, rad): take positions of all joints from robot.assemble, as many as "
            "it takes",
            time=float(times[k]),
        )


def torque_too_small(
    robot: Robot, times: FloatArray, q: FloatArray, effort: FloatArray
) -> PathError:
    """The error where torques do not suffice even at rest, at the instant that needs most."""
    tau = np.abs(path_torques(robot)(q, 0.0 * q, 0.0 * q))
    row, k = np.unravel_index(int((tau - effort).argmax()), tau.shape)
    joint = speed_names(robot)[k]
    return PathError(
        f"at t = {times[row]:.6g} s of the reference joint {joint!r} takes {tau[row, k]:.4g} N m "
        f"or N at rest, and its limit is {effort[k]:.4g}: no slower motion helps",
        time=float(times[row]),
        joint=joint,
    )
