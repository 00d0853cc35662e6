"""Torques for motion along a path, and their limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robodyn import AssemblyError, PathError, Robot, SettingsError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.model.virtual_work import joint_forces
from robodyn.motion.functions import Reference
from robodyn.simulation.limits import bounds
from robodyn.simulation.loads.actuated_speeds import at_all_joints, coordinates_of_motors
from robodyn.simulation.loads.column_names import motor_names, speed_names
from robodyn.tolerances import LOOP_OPEN

from ..support.motor_torques import motor_torques
from ..support.plant import motor_mask, refuse_passive
from .profile import limit

#: (q, v, a) -> tau, a row an instant: q, v and a over all joints, tau over these, then over motors
#: at joints that follow others and those that transmissions couple, if they have limits.
PathTorques = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def path_torques(robot: Robot) -> PathTorques:
    """The function from motion to torques; for a closed linkage, those of its motors alone.

    At a position, torques are linear in accelerations and, without friction, in squares of speeds.
    """
    of_joints: PathTorques = robot.inverse_dynamics
    if robot.nc:
        by_motors = motor_torques(robot)
        of_joints = lambda q, v, a: by_motors(q, v, a, None, 0.0)  # noqa: E731
    if not bounds.limits_depend_on_motors(robot):
        return of_joints

    def with_motors(q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        tau = of_joints(q, v, a)
        matrix = lambda: robot.actuation_matrix(q)  # noqa: E731
        f = joint_forces(robot.model, matrix, tau)
        own = [f] if robot.model.gearing.elsewhere else []
        return np.concatenate(
            [tau, *own, *(x.torques(f) for x in bounds.limited_motors(robot))], axis=-1
        )

    return with_motors


def _motors(robot: Robot) -> tuple[FloatArray, list[str]]:
    """Limits and names of what `path_torques` has after the torques of joints."""
    elsewhere, coupled = robot.model.gearing.elsewhere, bounds.limited_motors(robot)
    limits = (
        [bounds.motor_joint_bounds(robot)]
        if elsewhere and bounds.limits_depend_on_motors(robot)
        else []
    )
    names = [*motor_names(robot)] if limits else []
    names += [name for x in coupled for name in x.joints]
    return np.concatenate([np.zeros(0), *limits, *map(bounds.motor_bounds, coupled)]), names


def torque_limits(robot: Robot | None, torque: ArrayLike | None) -> FloatArray:
    """The largest torques of joints and coupled motors, as `path_torques` has them [N m, N].

    Those that are given are of joints, shape (nv,), in place of all that the robot has.

    Raises
    ------
    ShapeError
        Without a robot.
    SettingsError
        For a robot whose torques do not follow from the motion of its joints alone.
    ActuationError
        For a closed linkage whose motors do not set all of its motions, each by one.
    """
    if robot is None:
        raise ShapeError("torque= is given, and no robot= that takes torques", name="torque")
    expect("robot", robot, Robot)
    if robot.base != "fixed" or robot.depends_on_time or not robot.joints.coordinates_add:
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
    of_motors = _motors(robot)[0]
    if torque is not None:
        return np.concatenate([limit("torque", torque, robot.nv), np.full(len(of_motors), np.inf)])
    given = bounds.own_effort_bounds(robot)
    if robot.nc:  # other joints have no torque
        given = np.where(motor_mask(robot) > 0.0, given, np.inf)
    given = np.concatenate([given, of_motors])
    if not np.isfinite(given).any():
        raise SettingsError(f"{robot.name!r} gives no limits of torques: give torque=")
    return given


def of_linkage(robot: Robot | None, path: Reference) -> Reference:
    """A path of all joints of a linkage, from one of its motors alone.

    Other joints go on from where they were at the instant that was asked before. Other paths stay
    as they are.

    Raises
    ------
    PathError
        When called, where loops do not close.
    """
    if robot is None or not robot.nc or np.size(path(0.0)[0]) == robot.nq:
        return path
    linkage, motors = robot, coordinates_of_motors(robot)
    own = [k for name in motors for k in range(robot.nq)[robot.joints[name].q]]
    last = robot.neutral()

    def whole(t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        nonlocal last
        q, v, a = at_all_joints(linkage, [np.asarray(x) for x in path(t)], motors)
        if q.size == last.size:
            last = last.copy()
            last[own] = q[own]
            try:
                q = last = linkage.assemble(last, hold=motors)
            except AssemblyError as error:
                raise PathError(f"at t = {t:.6g} s of the path {error}", time=t) from error
            v = linkage.consistent_velocity(q, v, hold=motors)
        return q, v, a

    return whole


def check_closed(robot: Robot, times: FloatArray, q: FloatArray) -> None:
    """Check that loops are closed along a path.

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
    """The error if torques do not suffice even at rest, at the instant that needs the most."""
    tau = np.abs(path_torques(robot)(q, 0.0 * q, 0.0 * q))
    row, k = np.unravel_index(int((tau - effort).argmax()), tau.shape)
    motors = _motors(robot)[1]
    of_joint = k < robot.nv
    joint = speed_names(robot)[k] if of_joint else motors[k - robot.nv]
    what = "joint" if of_joint else "the motor of joint"
    return PathError(
        f"at t = {times[row]:.6g} s of the reference {what} {joint!r} takes {tau[row, k]:.4g} N m "
        f"or N at rest, and its limit is {effort[k]:.4g}: no slower motion helps",
        time=float(times[row]),
        joint=joint,
    )
