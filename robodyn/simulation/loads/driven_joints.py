"""Driven and locked joints of a simulation, by the names of joints and axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named_alone
from robodyn.errors import PathError, ShapeError, UnknownNameError
from robodyn.model.joint_info import JointInfo, part_names, part_of
from robodyn.model.speed_selection import without_speed
from robodyn.motion.derivative_check import instants
from robodyn.motion.functions import OncePerInstant
from robodyn.motion.joint_path import JointPath, check_joint_path
from robodyn.robot import Robot
from robodyn.simulation.loads.driven import Driven, DrivenPath, Indices, check_driven_once
from robodyn.tolerances import QUATERNION_NORM

PathOfTime = JointPath | Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]

#: Largest number of instants at which a path is checked.
CHECKED = 200


def driven_joints(
    robot: Robot,
    controlled: Mapping[str, PathOfTime] | None,
    locked: Iterable[str],
    times: FloatArray,
) -> Driven:
    """The driven and locked joints of a simulation, by name, their paths checked.

    controlled: ``"joint[k]"`` names one axis.
    times (n,) [s]: Instants of the simulation.
    """
    along, names = by_name("controlled", controlled), named_alone("locked", locked)
    if not (along or names):
        return _nothing(robot.nv)
    paths = [_followed(robot, name, path, times) for name, path in along.items()]
    paths += [locked_joint(robot, name) for name in names]
    return Driven(robot.nv, paths)


@functools.cache
def _nothing(nv: int) -> Driven:
    """No driven joints, for a robot with ``nv`` speeds."""
    return Driven(nv)


@dataclass(frozen=True)
class DrivenPlaces:
    """Indices of the coordinates and speeds that are functions of time, ascending.

    coordinates, speeds: Of joints that follow paths.
    still: Speeds of joints that stand still.
    """

    coordinates: list[int]
    speeds: list[int]
    still: list[int]

    @property
    def all_speeds(self) -> tuple[int, ...]:
        """Driven and locked, ascending."""
        return tuple(sorted([*self.speeds, *self.still]))


def driven_places(robot: Robot, controlled: Iterable[str], locked: Iterable[str]) -> DrivenPlaces:
    """Indices of the coordinates and speeds of joints by their names."""
    moving = [
        _indices(*_moving_joint(robot, name)) for name in named_alone("controlled", controlled)
    ]
    still = [
        int(k)
        for name in named_alone("locked", locked)
        for k in _indices(*_moving_joint(robot, name))[1]
    ]
    coordinates, speeds = (sorted(int(k) for pair in moving for k in pair[i]) for i in (0, 1))
    check_driven_once([*speeds, *still])
    return DrivenPlaces(coordinates, speeds, sorted(still))


def independent(robot: Robot, q: FloatArray, speeds: Sequence[int]) -> bool:
    """Whether the loops of a robot, at a posture, let some speeds be chosen freely.

    Of a robot that depends on time, at time zero.
    """
    if not robot.nc or not len(speeds):
        return True
    K = robot.at(0.0).loop_jacobian(q)
    both = np.vstack([K, np.eye(robot.nv)[list(speeds)]])
    rank = np.linalg.matrix_rank(K, tol=1e-9 * np.linalg.norm(K, 2))
    return bool(
        np.linalg.matrix_rank(both, tol=1e-9 * np.linalg.norm(both, 2)) == rank + len(speeds)
    )


def determined(robot: Robot, q: FloatArray, speeds: Sequence[int], joint: str) -> bool:
    """Whether given speeds, at a posture, determine how a joint moves."""
    rows = np.eye(robot.nv)[list(speeds)]
    if robot.nc:
        rows = np.vstack([robot.at(0.0).loop_jacobian(q), rows])
    _, sizes, modes = np.linalg.svd(rows)
    others = modes[int((sizes > 1e-9 * sizes.max(initial=0.0)).sum()) :]
    if not len(others):
        return True
    moves = robot.joint_velocities(np.tile(q, (len(others), 1)), others)[joint]
    return bool(np.abs(moves).max(initial=0.0) < 1e-9)


def _followed(robot: Robot, name: str, given: PathOfTime, times: FloatArray) -> DrivenPath:
    """A joint, or one axis of it, along a path, after checks of the path."""
    joint, axis = _moving_joint(robot, name)
    if not isinstance(given, JointPath) and not callable(given):
        raise ShapeError(
            f"controlled[{name!r}] is {type(given).__name__}, expected a robodyn.JointPath "
            "or a function of time",
            name=name,
        )
    path = given if isinstance(given, JointPath) else JointPath(given)
    coordinates, speeds = _indices(joint, axis)
    positions = 1 if axis is not None else len(coordinates)
    first, rate, _ = map(np.atleast_1d, path(float(times[0])))
    if (first.shape, rate.shape) != ((positions,), speeds.shape):
        raise ShapeError(
            f"the path of {name!r} gives {first.shape} positions and {rate.shape} velocities, "
            f"expected ({positions},) and {speeds.shape}{_of_kind(joint, axis)}",
            name=name,
            given=first.shape,
            expected=(positions,),
        )
    if axis is None and joint.kind.coordinates.quaternion:
        path = _of_unit_norm(path, name)
    once = OncePerInstant(lambda t: _columns(*path(t)))
    at, interval = instants(times, CHECKED)
    space = joint.kind.coordinates

    def apart(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.array(space.difference(one.tolist(), other.tolist()), float)

    adds = axis is not None or space.flat
    check_joint_path(once, at.tolist(), name, interval, None if adds else apart)
    if not len(coordinates):  # a speed without a coordinate: the path's position is not used
        return DrivenPath(lambda t: (np.zeros(0), *once(t)[1:]), coordinates, speeds)
    return DrivenPath(once, coordinates, speeds)


def _of_kind(joint: JointInfo, axis: int | None) -> str:
    """Explanation, for errors, of the positions and velocities of a joint of this kind."""
    if axis is not None or joint.kind.coordinates.flat:
        return ""
    return f": the coordinates and speeds of a {joint.type} joint"


def _of_unit_norm(path: JointPath, name: str) -> JointPath:
    """A path whose quaternions are normalised, to remove rounding.

    Raises PathError: When it is called, if the norm differs from 1 by more than rounding.
    """

    def motion(t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        x, dx, ddx = path(t)
        norm = float(np.linalg.norm(x[-4:]))
        if not abs(norm - 1.0) <= QUATERNION_NORM:
            raise PathError(
                f"the quaternion of joint {name!r} at t = {t:.6g} s has norm {norm:.9g}, expected "
                "a unit quaternion x, y, z, w",
                time=float(t),
            )
        return np.concatenate([x[:-4], x[-4:] / norm]), dx, ddx

    return JointPath(motion)


def _columns(
    x: FloatArray, dx: FloatArray, ddx: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity and acceleration, shape (n,) also where a path gives single numbers."""
    if x.ndim:
        return x, dx, ddx
    return x.reshape(1), dx.reshape(1), ddx.reshape(1)


def locked_joint(robot: Robot, name: str) -> DrivenPath:
    """A locked joint, or one locked axis of it, whose speed is zero."""
    _, speeds = _indices(*_moving_joint(robot, name))
    rest = np.zeros(len(speeds))
    none = np.zeros(0, np.intp)
    return DrivenPath(lambda t: (np.zeros(0), rest, rest), none, speeds, still=True)


def _indices(joint: JointInfo, axis: int | None) -> tuple[Indices, Indices]:
    """Indices in q and v of the coordinates and speeds of a joint, or of one axis of it.

    An axis of a spherical, floating or planar joint may have no coordinate.
    """
    if axis is not None:
        k = joint.kind.coordinates.integral(axis)
        own = [] if k is None else [joint.q.start + k]
        return np.array(own, np.intp), np.array([joint.v.start + axis])
    return np.arange(joint.q.start, joint.q.stop), np.arange(joint.v.start, joint.v.stop)


def _moving_joint(robot: Robot, name: str) -> tuple[JointInfo, int | None]:
    """A joint that has speeds of its own, and the index of one if the name has one."""
    joint, axis = _joint_and_axis(robot, name)
    if joint.v.stop == joint.v.start:
        raise without_speed(name, joint, robot.joint_names, robot.name)
    return joint, axis


def _joint_and_axis(robot: Robot, name: str) -> tuple[JointInfo, int | None]:
    axis = part_of(name, robot.joints) if isinstance(name, str) else None
    if axis is None:
        return robot.joints[name], None
    joint, index = axis
    width = joint.v.stop - joint.v.start
    if index >= width:
        raise UnknownNameError("axis", name, part_names(joint.name, width, robot.joints))
    return joint, index
