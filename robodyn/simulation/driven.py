"""Joints that follow a path in a simulation, or stand still: their state is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import by_name, named
from robodyn.errors import ActuationError, ShapeError, UnknownNameError
from robodyn.joints import KINDS, fixed
from robodyn.joints.common.kind import JointKind
from robodyn.model.joint_info import JointInfo
from robodyn.motion.derivative_check import instants
from robodyn.motion.joint_path import JointPath
from robodyn.robot import Robot

__all__ = ["Driven", "PathOfTime"]

Array = NDArray[np.float64]
PathOfTime = JointPath | Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]

#: At most so many instants of a path are checked.
CHECKED = 200


@dataclass(frozen=True)
class _Path:
    """A path and where its values go."""

    path: JointPath
    q: slice
    v: slice

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        x, dx, ddx = (np.atleast_1d(part) for part in self.path(t))
        return x, dx, ddx


class Driven:
    """The driven and locked joints of a simulation.

    Parameters
    ----------
    robot : Robot
    controlled : mapping of joint name to JointPath or callable
        ``"joint[k]"`` names one axis.
    locked : names of joints
    times : ndarray, shape (n,) [s]
        Instants of the simulation.
    q0 : ndarray, shape (..., nq)
        Where locked joints stay.

    Raises
    ------
    UnknownNameError, ActuationError, PathError, ShapeError
    """

    def __init__(
        self,
        robot: Robot,
        controlled: Mapping[str, PathOfTime] | None,
        locked: Iterable[str],
        times: Array,
        q0: Array,
    ) -> None:
        self._robot, self._q0 = robot, q0
        self._paths = [
            self._path(name, path, times)
            for name, path in by_name("controlled", controlled).items()
        ]
        self._locked = [_held(robot, name) for name in named("locked", locked)]
        places = [path.v for path in self._paths] + [v for _, v in self._locked]
        self.speeds = np.array([k for v in places for k in range(v.start, v.stop)], int)
        self.free = np.array([k for k in range(robot.nv) if k not in set(self.speeds)], int)
        if len(set(self.speeds.tolist())) < len(self.speeds):
            raise ActuationError("a joint is driven twice, or both driven and locked")

    def __bool__(self) -> bool:
        return bool(self._paths or self._locked)

    def _path(self, name: str, path: PathOfTime, times: Array) -> _Path:
        joint, axis = _joint_and_axis(self._robot, name)
        if not _follows_paths(joint.kind):
            known = sorted(name for name, kind in KINDS.items() if _follows_paths(kind))
            raise UnknownNameError(f"path for a joint of kind {joint.type}: only", name, known)
        if not isinstance(path, JointPath):
            if not callable(path):
                raise ShapeError(
                    f"controlled[{name!r}] is {type(path).__name__}, expected a robodyn.JointPath "
                    "or a function of time",
                    name=name,
                )
            path = JointPath(path)
        q, v = _slices(joint, axis)
        given = np.atleast_1d(path(0.0)[0]).shape
        if given != (v.stop - v.start,):
            raise ShapeError(
                f"the path of {name!r} gives {given} positions, expected {(v.stop - v.start,)}",
                name=name,
                given=given,
                expected=(v.stop - v.start,),
            )
        at, interval = instants(times, CHECKED)
        path.check(at, name, interval=interval)
        return _Path(path, q, v)

    def imposed(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state with what is driven where it has to be."""
        if not self:
            return q, v
        q, v = q.copy(), v.copy()
        for path in self._paths:
            q[..., path.q], v[..., path.v], _ = path(t)
        for at_q, at_v in self._locked:
            q[..., at_q], v[..., at_v] = self._q0[..., at_q], 0.0
        return q, v

    def accelerations(self, t: float) -> Array:
        """Accelerations of the driven speeds, in the order of ``speeds``."""
        a = np.zeros(len(self.speeds))
        if self._paths:
            driven = np.concatenate([path(t)[2] for path in self._paths])
            a[: len(driven)] = driven
        return a


def _follows_paths(kind: JointKind) -> bool:
    """Its coordinates are the integrals of its speeds."""
    return kind.in_tree and kind.coordinates.flat and kind is not fixed.KIND


def _slices(joint: JointInfo, axis: int | None) -> tuple[slice, slice]:
    if axis is None:
        return joint.q, joint.v
    return (
        slice(joint.q.start + axis, joint.q.start + axis + 1),
        slice(joint.v.start + axis, joint.v.start + axis + 1),
    )


def _held(robot: Robot, name: str) -> tuple[slice, slice]:
    """Where the state of a locked joint, or of one axis of it, stands."""
    joint, axis = _joint_and_axis(robot, name)
    if joint.v.stop == joint.v.start:
        raise UnknownNameError("joint with a speed of its own", name, robot.joint_names)
    if axis is not None and not joint.kind.coordinates.flat:
        where = f"those that can be locked: a {joint.type} joint is locked as a whole"
        raise UnknownNameError("axis", name, [joint.name], where)
    return _slices(joint, axis)


def _joint_and_axis(robot: Robot, name: str) -> tuple[JointInfo, int | None]:
    if name in robot.joints or not (isinstance(name, str) and name.endswith("]")):
        return robot.joints[name], None
    start, _, index = name[:-1].rpartition("[")
    joint = robot.joints[start]
    width = joint.v.stop - joint.v.start
    if not index.isdigit() or int(index) >= width:
        raise UnknownNameError("axis", name, [f"{start}[{k}]" for k in range(width)])
    return joint, int(index)
