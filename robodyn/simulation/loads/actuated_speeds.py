"""Speeds that motors act on, also motors at joints that follow others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.errors import ActuationError
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.tolerances import ACTUATION_RANK


@once_per_robot
def moved_speeds(robot: Robot) -> tuple[int, ...]:
    """Indices in v of the speeds that motors act on, ascending, whether each by any force or not.

    Those of joints with motors; of motors at joints that follow others those that they move.
    """
    if not robot.model.gearing.elsewhere:
        moved = (robot.joints[name].v for name in robot.actuated_joints)
        return tuple(sorted(k for at in moved for k in range(at.start, at.stop)))
    moved_most = np.abs(_actuation(robot)).max(axis=1)
    return tuple(np.flatnonzero(moved_most > ACTUATION_RANK * moved_most.max()).tolist())


@once_per_robot
def actuated_speeds(robot: Robot) -> tuple[int, ...]:
    """The same, each of which motors move by any force.

    Raises ActuationError: If there are fewer motors at such joints than speeds that they move.
    """
    speeds = moved_speeds(robot)
    if not robot.model.gearing.elsewhere:
        return speeds
    B = _actuation(robot)[[*speeds]]
    if np.linalg.matrix_rank(B, ACTUATION_RANK) < len(speeds):
        names = ", ".join(joints_of(robot, speeds))
        raise ActuationError(
            f"motors of {robot.name!r} are at {', '.join(robot.actuated_joints)}, which follow "
            f"other joints; they move {names} together and do not determine the motion of each: "
            "load it with coordinates='tree', or let joints with motors lead others",
            direction=B,
        )
    return speeds


def _actuation(robot: Robot) -> FloatArray:
    return robot.at(0.0).actuation_matrix(np.array(robot.model.some_posture))


@once_per_robot
def coordinates_of_motors(robot: Robot) -> tuple[str, ...]:
    """Joints that have these speeds, in the order of q."""
    if not robot.model.gearing.elsewhere:
        return robot.actuated_joints
    return joints_of(robot, actuated_speeds(robot))


def at_all_joints(robot: Robot, motion: Sequence[Array], joints: Iterable[str]) -> list[Array]:
    """Position, velocity and acceleration of all joints, from those of some, in numbers or symbols.

    The others rest in their neutral positions. Arrays of other sizes stay as they are.
    """
    own = [robot.joints[name] for name in joints]
    places = [k for x in own for k in range(x.q.start, x.q.stop)]
    speeds = [k for x in own for k in range(x.v.start, x.v.stop)]
    if motion[0].shape[-1:] != (len(places),):
        return [*motion]
    q, *rates = motion
    whole = [_put(speeds, x, np.zeros(robot.nv)) for x in rates]
    return [_put(places, q, _neutral(robot)), *whole]


def _put(places: list[int], x: Array, others: FloatArray) -> Array:
    """Numbers at some places of others; an array of another size stays as it is."""
    if x.shape[-1:] != (len(places),):
        return x
    found = np.broadcast_to(others, (*x.shape[:-1], others.size)).astype(np.result_type(x, others))
    found[..., places] = x
    return found


@once_per_robot
def _neutral(robot: Robot) -> FloatArray:
    return robot.at(0.0).neutral()


def joints_of(robot: Robot, speeds: Iterable[int]) -> tuple[str, ...]:
    """Joints that have some of these speeds, in the order of q."""
    some = {*speeds}
    own = {name: robot.joints[name].v for name in robot.joint_names}
    return tuple(n for n, at in own.items() if {*range(at.start, at.stop)} & some)
