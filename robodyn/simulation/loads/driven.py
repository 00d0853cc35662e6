"""Joints that follow a path in a simulation, or stand still: functions of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.errors import ActuationError
from robodyn.motion.joint_path import joined

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
            return x, dx, ddx
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

    @property
    def still(self) -> bool:
        """Whether all of them stand still."""
        return all(path.still for path in self._paths)

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
        """Indices in q and v of the positions and velocities of `state`."""
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


def check_driven_once(speeds: Sequence[int]) -> None:
    """Check that no speed is driven twice."""
    if len({*speeds}) < len(speeds):
        raise ActuationError("a joint is driven twice, or both driven and locked")
