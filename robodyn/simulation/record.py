"""Samples of a motion while it grows."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, ShapeError, SimulationError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation.trajectory import Trajectory, trajectory_of

__all__ = ["Record"]


#: A linkage that is this near to a singular posture (`Robot.loop_rank`) is at it.
SINGULAR = 1e-8


class Record:
    """Room for the samples of a simulation, which are copied into it.

    Parameters
    ----------
    robot : Robot
    base : BasePath or None
    size : int
        Samples that there is room for at once.
    batch : tuple of int
        Leading axes of a state.

    Raises
    ------
    MemoryError
    """

    def __init__(
        self, robot: Robot, base: BasePath | None, size: int, batch: tuple[int, ...]
    ) -> None:
        self.robot, self.base, self.count = robot, base, 0
        self._t = np.empty(size)
        self._q = np.empty((size, *batch, robot.nq))
        self._v, self._a, self._tau = np.empty((3, size, *batch, robot.nv))

    def add(self, t: float, q: FloatArray, v: FloatArray, a: FloatArray, tau: FloatArray) -> None:
        """Copy a sample."""
        k = self.count
        if k == len(self._t):
            self._grow()
        self._t[k], self._q[k], self._v[k], self._a[k], self._tau[k] = t, q, v, a, tau
        self.count = k + 1

    def _grow(self) -> None:
        """Make room for half as many samples again: events have added some."""
        more = 16 + self.count // 2
        for name in ("_t", "_q", "_v", "_a", "_tau"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty((more, *old.shape[1:]))]))

    def broken(self, t: float, error: RobodynError) -> SimulationError:
        """What to raise where the motion until ``t`` [s] breaks down: it has what came before."""
        singular = self._singular()
        problem = f"at t = {t:.6g} s {error}" + (f"; {singular}" if singular else "")
        if isinstance(error, ShapeError):
            why = singular or "the step is too long, or torques are not finite"
            problem = (
                f"the motion of {self.robot.name!r} is no longer finite at t = {t:.6g} s: {why} "
                f"({error})"
            )
        return SimulationError(
            problem, trajectory=self.trajectory() if self.count else None, time=t
        )

    def _singular(self) -> str:
        """Whether the loops were at a singular posture before, in words; empty if not."""
        if not (self.robot.nc and self.count):
            return ""
        time, q = float(self._t[self.count - 1]), self._q[self.count - 1]
        rank = self.robot.loop_rank(q, t=time if self.robot.depends_on_time else None)
        if not rank.distance.min(initial=np.inf) < SINGULAR:
            return ""
        return (
            f"at {time:.6g} s it stood at a singular posture, where ways to assemble it meet and "
            "its motion is not determined; another step or start passes it between two samples"
        )

    def trajectory(self) -> Trajectory:
        """What was recorded, with its energy."""
        n = self.count
        t, q, v, a, tau = (x[:n].copy() for x in (self._t, self._q, self._v, self._a, self._tau))
        return trajectory_of(self.robot, t, q, v, a, tau, self._base_at(t, q.ndim - 2))

    def _base_at(self, t: FloatArray, inner: int) -> BaseMotion | None:
        """Motion of the base at all samples, over ``inner`` axes of simultaneous motions."""
        if self.base is None:
            return None
        stacked = self.base.at(t)
        axes = tuple(range(1, 1 + inner))
        parts = (stacked.pose, stacked.twist, stacked.acceleration)
        return BaseMotion(*(np.expand_dims(x, axes) for x in parts))
