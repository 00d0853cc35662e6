"""Joints that follow paths of time in a simulation, or stand still, by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named_alone
from robodyn.errors import ActuationError, PathError, ShapeError
from robodyn.model.joint_info import JointInfo, part_of
from robodyn.model.speed_selection import speed_indices
from robodyn.motion.derivative_check import instants
from robodyn.motion.functions import OncePerInstant
from robodyn.motion.joint_path import JointPath, check_joint_path, joined
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.tolerances import QUATERNION_NORM

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class DrivenPath:
    """A path of time and the coordinates and speeds that follow it.

    path: ``t -> (position, velocity, acceleration)``, one number a coordinate and speed; a
        `JointPath` is one. If it has a method ``at_times``, that takes times of shape (n,) and
        gives arrays of shape (n, k).
    coordinates: Where the path's positions stand in q; empty where speeds alone are driven.
    speeds: Where its velocities stand in v.
    still: The path is constant: the joint is locked.
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
        elif self.still:
            x, dx, ddx = (np.tile(part, (len(t), 1)) for part in self.path(0.0))
        else:
            motions = [self.path(at) for at in t.tolist()]
            x, dx, ddx = (joined([m[k] for m in motions]).reshape(len(t), -1) for k in range(3))
        return x, dx, ddx


class Driven:
    """The joints of a robot that follow paths.

    nv: Speeds of the robot.
    speeds: Driven speeds, ascending.
    free: The other speeds.
    is_free (nv,)
    Raises ActuationError: If two paths drive one speed.
    """

    def __init__(self, nv: int, paths: Sequence[DrivenPath] = ()) -> None:
        self._paths = tuple(paths)
        given = [int(k) for path in self._paths for k in path.speeds]
        self.speeds = tuple(sorted(given))
        #: Permutation that sorts the accelerations of the paths, if they are not ascending.
        self._order = None if given == sorted(given) else np.argsort(given)
        check_driven_once(given)
        self.is_free = np.ones(nv, bool)
        self.is_free[list(self.speeds)] = False
        self.free = np.flatnonzero(self.is_free)

    def __bool__(self) -> bool:
        return bool(self._paths)

    def and_also(self, paths: Iterable[DrivenPath]) -> Driven:
        """These joints, and joints along further paths."""
        return Driven(len(self.is_free), [*self._paths, *paths])

    def at(
        self, t: float, q: FloatArray, v: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The state with driven joints on their paths at ``t`` [s], and their accelerations.

        q, v (..., nq), (..., nv): Left as they are.
        Returns q, v (..., nq), (..., nv)
        Returns a (n,): Accelerations of the driven speeds, in the order of ``speeds``.
        """
        q, v = q.copy(), v.copy()
        return q, v, self.place(t, q, v)

    def place(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Set driven joints to their paths at ``t`` [s], in the arrays themselves.

        Returns a (n,): Their accelerations, in the order of ``speeds``.
        """
        accelerations = []
        for driven in self._paths:
            position, velocity, acceleration = driven.path(t)
            q[..., driven.coordinates], v[..., driven.speeds] = position, velocity
            accelerations.append(acceleration)
        return self._joined(accelerations)

    @property
    def places(self) -> tuple[Indices, Indices]:
        """Indices in q and v of the positions and velocities of `states`."""
        none = np.zeros(0, np.intp)
        coordinates = np.concatenate([none, *(path.coordinates for path in self._paths)])
        return coordinates, np.concatenate([none, *(path.speeds for path in self._paths)])

    def states(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions and velocities at `places`, and accelerations in the order of speeds.

        At instants, shape (n,) [s], they are arrays of shape (n, ...).
        """
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


def check_driven_once(speeds: Sequence[int]) -> None:
    """Check that no speed is driven twice."""
    if len({*speeds}) < len(speeds):
        raise ActuationError("a joint is driven twice, or both driven and locked")


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
    moving = [_place(robot, name)[2:] for name in named_alone("controlled", controlled)]
    held = named_alone("locked", locked)
    still = [k for name in held for k in speed_indices(robot.model, name)]
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
    joint, axis, coordinates, speeds = _place(robot, name)
    if not isinstance(given, JointPath) and not callable(given):
        raise ShapeError(
            f"controlled[{name!r}] is {type(given).__name__}, expected a robodyn.JointPath "
            "or a function of time",
            name=name,
        )
    path = given if isinstance(given, JointPath) else JointPath(given)
    space = joint.kind.coordinates
    adds = axis is not None or space.flat
    positions = 1 if axis is not None else len(coordinates)
    first, rate, _ = map(np.atleast_1d, path(float(times[0])))
    if (first.shape, rate.shape) != ((positions,), speeds.shape):
        kind = "" if adds else f": the coordinates and speeds of a {joint.type} joint"
        raise ShapeError(
            f"the path of {name!r} gives {first.shape} positions and {rate.shape} velocities, "
            f"expected ({positions},) and {speeds.shape}{kind}",
            name=name,
            given=first.shape,
            expected=(positions,),
        )
    if axis is None and joint.kind.coordinates.quaternion:
        path = _of_unit_norm(path, name)
    once = OncePerInstant(lambda t: _columns(*path(t)))
    at, interval = instants(times, CHECKED)

    def apart(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.array(space.difference(one.tolist(), other.tolist()), float)

    check_joint_path(once, at.tolist(), name, interval, None if adds else apart)
    if not len(coordinates):  # a speed without a coordinate: the path's position is not used
        return DrivenPath(lambda t: (np.zeros(0), *once(t)[1:]), coordinates, speeds)
    return DrivenPath(once, coordinates, speeds)


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
    speeds = np.array(speed_indices(robot.model, name))
    rest = np.zeros(len(speeds))
    none = np.zeros(0, np.intp)
    return DrivenPath(lambda t: (np.zeros(0), rest, rest), none, speeds, still=True)


def _place(robot: Robot, name: str) -> tuple[JointInfo, int | None, Indices, Indices]:
    """A joint, the number of its axis if that is meant alone, and indices in q and v.

    An axis of a spherical, floating or planar joint may have no coordinate.
    """
    speeds, axis = np.array(speed_indices(robot.model, name)), part_of(name, robot.joints)
    if axis is None:
        joint = robot.joints[name]
        return joint, None, np.arange(joint.q.start, joint.q.stop), speeds
    joint, k = axis
    own = joint.kind.coordinates.integral(k)
    coordinates = [] if own is None else [joint.q.start + own]
    return joint, k, np.array(coordinates, np.intp), speeds
