"""Samples of a motion while it grows."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, ShapeError, SimulationError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation.trajectory import Trajectory, trajectory_of

__all__ = ["Record"]


class Record:
    """Room for the samples of a simulation, which are copied into it.

    Parameters
    ----------
    robot : Robot
    base : BasePath or None
    size : int
        Most samples.
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
        self._t[k], self._q[k], self._v[k], self._a[k], self._tau[k] = t, q, v, a, tau
        self.count = k + 1

    def broken(self, t: float, error: RobodynError) -> SimulationError:
        """What to raise where the motion until ``t`` [s] breaks down: it has what came before."""
        problem = f"at t = {t:.6g} s {error}"
        if isinstance(error, ShapeError):
            problem = (
                f"the motion of {self.robot.name!r} is no longer finite at t = {t:.6g} s: the step "
                f"is too long, or torques are not finite ({error})"
            )
        return SimulationError(
            problem, trajectory=self.trajectory() if self.count else None, time=t
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
