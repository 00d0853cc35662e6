"""The samples of a motion with its robot and loads, for computations block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.errors import SettingsError
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


ROBOTS = "the robots that events made of it"
BASE = "the motion of the base"
WRENCHES = "external wrenches"
EVENTS = "events"
DRIVEN = "which joints are driven"
CONTROLLERS = "states of controllers"
FRICTION = "that joints stick"


def not_in_columns(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """What a motion has besides the columns of its joints, and a file of these does not hold."""
    acting, wrenches = fields["surroundings"], fields["surroundings"].wrenches
    had = {
        ROBOTS: fields["phases"], BASE: acting.base, WRENCHES: callable(wrenches) or wrenches,
        EVENTS: fields["events"], DRIVEN: fields["driven"], CONTROLLERS: fields["controller_state"],
        FRICTION: fields["friction"],
    }  # fmt: skip
    found = [name for name, x in had.items() if x is not None and x not in (False, (), {})]
    return tuple(dict.fromkeys((*fields["not_saved"], *found)))


def refuse_not_saved(run: Any, needed: tuple[str, ...]) -> None:
    """Refuse a quantity of a motion whose file did not hold all that it follows from."""
    lost = [name for name in needed if name in run.not_saved]
    if lost:
        raise SettingsError(
            f"the file of this motion does not hold {' and '.join(lost)}, on which this "
            "quantity depends: save the motion as .npz, which holds all"
        )
