"""Joints that follow a path in a simulation, or stand still: their state is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named_alone
from robodyn.errors import ActuationError, PathError, ShapeError, UnknownNameError
from robodyn.model.joint_info import JointInfo
from robodyn.model.speed_selection import without_speed
from robodyn.motion.derivative_check import instants
from robodyn.motion.joint_path import JointPath
from robodyn.robot import Robot
from robodyn.tolerances import QUATERNION_NORM

__all__ = [
    "Driven",
    "DrivenPath",
    "DrivenPlaces",
    "PathOfTime",
    "driven_joints",
    "driven_places",
    "independent",
]

Indices = NDArray[np.intp]
PathOfTime = JointPath | Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]

#: At most so many instants of a path are checked.
CHECKED = 200


@dataclass(frozen=True, eq=False)
class DrivenPath:
    """A path of time and the coordinates and speeds that follow it.

    Attributes
    ----------
    path : callable
        ``t -> (position, velocity, acceleration)``, one number a coordinate and speed; a
        `JointPath` is one. If it has a method ``at_times``, that takes times of shape (n,) and
        gives arrays of shape (n, k).
    coordinates : ndarray of int
        Where the path's positions stand in q; empty where speeds alone are driven.
    speeds : ndarray of int
        Where its velocities stand in v.
    still : bool
        It does not change with time: a joint that is locked.
    """

    path: Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]
    coordinates: Indices
    speeds: Indices
    still: bool = False

    def states(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations at instants, shape (n,) [s]: (n, k) each."""
        at_times = getattr(self.path, "at_times", None)
        if at_times is not None:
            x, dx, ddx = at_times(t)
            return x, dx, ddx
        motions = [self.path(at) for at in t.tolist()]
        x, dx, ddx = (
            np.array([motion[k] for motion in motions], float).reshape(len(t), -1) for k in range(3)
        )
        return x, dx, ddx


class Driven:
    """The joints of a robot that follow paths.

    Parameters
    ----------
    nv : int
        Speeds of the robot.
    paths : sequence of DrivenPath

    Attributes
    ----------
    speeds : tuple of int
        Driven speeds, ascending.
    free : ndarray of int
        The other speeds.
    is_free : ndarray of bool, shape (nv,)

    Raises
    ------
    ActuationError
        If two paths drive one speed.
    """

    def __init__(self, nv: int, paths: Sequence[DrivenPath] = ()) -> None:
        self._paths = tuple(paths)
        given = [int(k) for path in self._paths for k in path.speeds]
        self.speeds = tuple(sorted(given))
        #: Where the accelerations of the paths stand in those of `speeds`, if that is elsewhere.
        self._order = None if given == sorted(given) else np.argsort(given)
        _refuse_twice(given)
        self.is_free = np.ones(nv, bool)
        self.is_free[list(self.speeds)] = False
        self.free = np.flatnonzero(self.is_free)

    def __bool__(self) -> bool:
        return bool(self._paths)

    @property
    def still(self) -> bool:
        """All of them stand still, so that every instant is as good as another."""
        return all(path.still for path in self._paths)

    def and_held(self, robot: Robot, joints: Iterable[str]) -> Driven:
        """These, and some joints that stand still."""
        return Driven(len(self.is_free), [*self._paths, *(_held(robot, x) for x in joints)])

    def at(
        self, t: float, q: FloatArray, v: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The state with driven joints where they have to be at ``t`` [s], and what drives them.

        Parameters
        ----------
        t : float [s]
        q, v : ndarray, shape (..., nq), (..., nv)
            Left as they are.

        Returns
        -------
        q, v : ndarray, shape (..., nq), (..., nv)
        a : ndarray, shape (n,)
            Accelerations of the driven speeds, in the order of ``speeds``.
        """
        q, v = q.copy(), v.copy()
        return q, v, self.place(t, q, v)

    def place(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Put driven joints where they have to be at ``t`` [s], in the arrays themselves.

        Returns
        -------
        a : ndarray, shape (n,)
            Their accelerations, in the order of ``speeds``.
        """
        accelerations = []
        for driven in self._paths:
            position, velocity, acceleration = driven.path(t)
            q[..., driven.coordinates], v[..., driven.speeds] = position, velocity
            accelerations.append(acceleration)
        return self._joined(accelerations)

    @property
    def places(self) -> tuple[Indices, Indices]:
        """Where the positions and velocities of `state` stand in q and v."""
        none = np.zeros(0, np.intp)
        coordinates = np.concatenate([none, *(path.coordinates for path in self._paths)])
        return coordinates, np.concatenate([none, *(path.speeds for path in self._paths)])

    def state(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions and velocities at `places` at ``t`` [s]; accelerations, in order of speeds."""
        motions = [path.path(t) for path in self._paths]
        x, dx = (np.concatenate([np.zeros(0), *(m[k] for m in motions)]) for k in (0, 1))
        return x, dx, self._joined([m[2] for m in motions])

    def states(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same at many instants, shape (n,) [s]: arrays of shape (n, ...)."""
        if self.still:
            x, dx, ddx = (np.tile(x, (len(t), 1)) for x in self.state(0.0))
            return x, dx, ddx
        motions = [path.states(t) for path in self._paths]
        none = np.zeros((len(t), 0))
        x, dx, ddx = (np.concatenate([none, *(m[k] for m in motions)], axis=1) for k in range(3))
        return x, dx, np.ascontiguousarray(ddx if self._order is None else ddx[:, self._order])

    def accelerations(self, t: float) -> FloatArray:
        """Accelerations of the driven speeds at ``t`` [s], in the order of ``speeds``."""
        return self._joined([driven.path(t)[2] for driven in self._paths])

    def _joined(self, accelerations: list[FloatArray]) -> FloatArray:
        a = accelerations[0] if len(accelerations) == 1 else np.hstack(accelerations)
        return a if self._order is None else a[self._order]


def driven_joints(
    robot: Robot,
    controlled: Mapping[str, PathOfTime] | None,
    locked: Iterable[str],
    times: FloatArray,
) -> Driven:
    """The driven and locked joints of a simulation, by name, their paths checked.

    Parameters
    ----------
    robot : Robot
    controlled : mapping of joint name to JointPath or callable
        ``"joint[k]"`` names one axis.
    locked : names of joints, or of axes
    times : ndarray, shape (n,) [s]
        Instants of the simulation.

    Raises
    ------
    UnknownNameError, ActuationError, PathError, ShapeError
    """
    along = by_name("controlled", controlled)
    paths = [_followed(robot, name, path, times) for name, path in along.items()]
    paths += [_held(robot, name) for name in named_alone("locked", locked)]
    return Driven(robot.nv, paths)


@dataclass(frozen=True)
class DrivenPlaces:
    """Which coordinates and speeds are known beforehand, each ascending.

    Attributes
    ----------
    coordinates, speeds : list of int
        Of joints that follow paths.
    still : list of int
        Speeds of joints that stand still.
    """

    coordinates: list[int]
    speeds: list[int]
    still: list[int]

    @property
    def all_speeds(self) -> tuple[int, ...]:
        """Driven and locked, ascending."""
        return tuple(sorted([*self.speeds, *self.still]))


def driven_places(robot: Robot, controlled: Iterable[str], locked: Iterable[str]) -> DrivenPlaces:
    """Which coordinates and speeds the names of joints stand for.

    Raises
    ------
    UnknownNameError, ActuationError, ShapeError
    """
    moving = [
        _indices(*_moving_joint(robot, name)) for name in named_alone("controlled", controlled)
    ]
    still = [
        int(k)
        for name in named_alone("locked", locked)
        for k in _indices(*_moving_joint(robot, name))[1]
    ]
    coordinates, speeds = (sorted(int(k) for pair in moving for k in pair[i]) for i in (0, 1))
    _refuse_twice([*speeds, *still])
    return DrivenPlaces(coordinates, speeds, sorted(still))


def _refuse_twice(speeds: Sequence[int]) -> None:
    if len({*speeds}) < len(speeds):
        raise ActuationError("a joint is driven twice, or both driven and locked")


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


def _followed(robot: Robot, name: str, given: PathOfTime, times: FloatArray) -> DrivenPath:
    """A joint, or one axis of it, along a path that fits it and does not contradict itself."""
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
    at, interval = instants(times, CHECKED)
    space = joint.kind.coordinates

    def apart(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.array(space.difference(one.tolist(), other.tolist()), float)

    adds = axis is not None or space.flat
    path.check(at, name, interval=interval, difference=None if adds else apart)
    if not len(coordinates):  # a speed without a coordinate: its path has gone some way
        return DrivenPath(lambda t: _columns(np.zeros(0), *path(t)[1:]), coordinates, speeds)
    return DrivenPath(lambda t: _columns(*path(t)), coordinates, speeds)


def _of_kind(joint: JointInfo, axis: int | None) -> str:
    """What the positions and velocities of a joint are, where that is not obvious."""
    if axis is not None or joint.kind.coordinates.flat:
        return ""
    return f": the coordinates and speeds of a {joint.type} joint"


def _of_unit_norm(path: JointPath, name: str) -> JointPath:
    """A path whose quaternions are of unit norm; at most rounding is taken away.

    Raises
    ------
    PathError
        When it is called, if there is more than that to take away.
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
    return np.atleast_1d(x), np.atleast_1d(dx), np.atleast_1d(ddx)


def _held(robot: Robot, name: str) -> DrivenPath:
    """A locked joint, or one locked axis of it: without speed it stays where it is."""
    _, speeds = _indices(*_moving_joint(robot, name))
    rest = np.zeros(len(speeds))
    none = np.zeros(0, np.intp)
    return DrivenPath(lambda t: (np.zeros(0), rest, rest), none, speeds, still=True)


def _indices(joint: JointInfo, axis: int | None) -> tuple[Indices, Indices]:
    """Where the coordinates and speeds of a joint, or of one axis of it, stand in q and v.

    Some speeds of a spherical, floating or planar joint are the rate of no coordinate.
    """
    if axis is not None:
        k = joint.kind.coordinates.integral(axis)
        own = [] if k is None else [joint.q.start + k]
        return np.array(own, np.intp), np.array([joint.v.start + axis])
    return np.arange(joint.q.start, joint.q.stop), np.arange(joint.v.start, joint.v.stop)


def _moving_joint(robot: Robot, name: str) -> tuple[JointInfo, int | None]:
    """A joint that has speeds of its own, and which of them if one is named."""
    joint, axis = _joint_and_axis(robot, name)
    if joint.v.stop == joint.v.start:
        raise without_speed(name, joint, robot.joint_names, robot.name)
    return joint, axis


def _joint_and_axis(robot: Robot, name: str) -> tuple[JointInfo, int | None]:
    if name in robot.joints or not (isinstance(name, str) and name.endswith("]")):
        return robot.joints[name], None
    start, _, index = name[:-1].rpartition("[")
    joint = robot.joints[start]
    width = joint.v.stop - joint.v.start
    if not index.isdigit() or int(index) >= width:
        raise UnknownNameError("axis", name, [f"{start}[{k}]" for k in range(width)])
    return joint, int(index)
