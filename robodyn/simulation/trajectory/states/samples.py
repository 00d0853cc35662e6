"""The samples of a motion with its robot and loads, for computations block by block."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads, Surroundings

#: Number of states in a block.
BLOCK = 32768


@dataclass(frozen=True, eq=False)
class Samples:
    """The states of a motion, the robot, and the loads on it.

    driven: Speeds of driven joints, whose forces change within a step; the others are held.
    friction: Joints stick and slide as modes.
    """

    robot: Robot
    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray
    driven: tuple[int, ...] = ()
    surroundings: Surroundings = field(default_factory=PrescribedLoads)
    friction: DryFriction | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: Any) -> Samples:
        parts = (self.t, self.q, self.v, self.a, self.tau)
        t, q, v, a, tau = (np.asarray(part[index]) for part in parts)
        outside = self.surroundings[index]
        return Samples(self.robot, t, q, v, a, tau, self.driven, outside, self.friction)

    @property
    def batch(self) -> tuple[int, ...]:
        """Axes of simultaneous motions."""
        return self.q.shape[1:-1]

    @property
    def time(self) -> FloatArray:
        """Time of each state, with an axis of one for simultaneous motions."""
        return self.t.reshape(len(self), *[1] * len(self.batch))

    @property
    def base(self) -> BaseMotion | None:
        """Motion of the base at each state, with an axis of one for simultaneous motions."""
        motion = self.surroundings.base_at(self.t)
        if motion is None:
            return None
        axes = tuple(range(1, 1 + len(self.batch)))
        return BaseMotion(*(np.expand_dims(x, axes) for x in motion.parts))

    @property
    def wrenches(self) -> dict[str, FloatArray]:
        """External wrenches by link [N, N m]."""
        return self.surroundings.wrenches_at(self.t, self.q, self.v)

    def computed(self, f: Callable[[Samples], FloatArray]) -> FloatArray:
        """A quantity of all samples, computed block by block.

        It is NaN after the end of a motion that an event has ended before the others.
        """
        ended = np.asarray(np.isnan(self.q).any(axis=-1))
        if ended.any():
            return self._computed_until_the_end(f, ended)
        size = max(1, BLOCK // max(1, math.prod(self.batch)))
        if len(self) <= size:
            return f(self)
        blocks = [f(self[k : k + size]) for k in range(0, len(self), size)]
        return np.concatenate(blocks)

    def _computed_until_the_end(
        self, f: Callable[[Samples], FloatArray], ended: Array
    ) -> FloatArray:
        """A quantity of all samples, computed motion by motion."""
        found: FloatArray | None = None
        for place in np.ndindex(self.batch):
            of_all: Any = (slice(None), *place)
            here = ~ended[of_all]
            q, v, a, tau = (x[of_all][here] for x in (self.q, self.v, self.a, self.tau))
            robot = self.robot.of_rows(place[-1]) if place else self.robot
            acting = self.surroundings.for_motion(*place)[here]
            x = f(Samples(robot, self.t[here], q, v, a, tau, self.driven, acting, self.friction))
            if found is None:
                found = np.full((*ended.shape, *x.shape[1:]), np.nan)
            found[(here, *place)] = x
        assert found is not None
        return found
