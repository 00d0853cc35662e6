"""What moves in a simulation, and what acts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.errors import AssemblyError, ShapeError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation.driven import Driven

__all__ = ["BaseAt", "Controller", "Scene", "WrenchesAt"]

Array = NDArray[np.float64]
Controller = Callable[[float, Array, Array], ArrayLike]
BaseAt = Callable[[float], BaseMotion]
WrenchesAt = Callable[[float, Array, Array], Mapping[str, ArrayLike]]


#: Gaps of loops [m, rad] with which no simulation starts.
OPEN = 1e-3

#: Gaps that are left after a step was mended, with which none goes on.
APART = 1e-6


@dataclass(frozen=True)
class Scene:
    """A robot, its controller, its base, wrenches on it, and joints driven along paths."""

    robot: Robot
    controller: Controller | None
    base: BasePath | None
    wrenches: Mapping[str, ArrayLike] | WrenchesAt | None
    driven: Driven

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """What the controller asks for."""
        if self.controller is None:
            return np.zeros(v.shape)
        tau = np.asarray(self.controller(t, q, v), float)
        if tau.shape != v.shape:
            raise ShapeError(
                f"the controller returned shape {tau.shape} at t = {t:.6g} s, expected {v.shape}",
                name="tau",
                given=tau.shape,
                expected=v.shape,
            )
        return tau

    def started(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state at the start; small gaps of loops are closed.

        Raises
        ------
        AssemblyError
            If the loops are open.
        """
        q, v = self.driven.imposed(t, q, v)
        if not self.robot.nc:
            return q, v
        gap = np.abs(self.robot.loop_residual(q)).max()
        if gap > OPEN:
            raise AssemblyError(
                f"the loops of {self.robot.name!r} are open by {gap:.3g} (m or rad) at the start: "
                "take q0 from robot.assemble, robot.neutral or robot.random, and with driven "
                "joints, hold them",
                residual=self.robot.loop_residual(q),
                q=q,
            )
        return self.settled(t, q, v)

    def settled(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """A state with driven joints where they have to be, and loops closed."""
        q, v = self.driven.imposed(t, q, v)
        if not self.robot.nc:
            return q, v
        free = np.ones(self.robot.nv, bool)
        free[self.driven.speeds] = False
        q, v = self.robot.closed_state(q, v, free)
        residual = self.robot.loop_residual(q)
        gap = np.abs(residual).max(initial=0.0)
        if gap > APART:
            hint = "joints are driven where they cannot go" if self.driven else "take shorter steps"
            raise AssemblyError(
                f"the loops of {self.robot.name!r} come apart by {gap:.3g} (m or rad): {hint}",
                residual=residual,
                q=q,
            )
        return q, v

    def motion(self, t: float, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Accelerations, and the generalised forces, those of driven joints solved for."""
        base = self.base(t) if self.base else None
        wrenches = self.wrenches(t, q, v) if callable(self.wrenches) else self.wrenches
        if not self.driven:
            return self.robot.forward_dynamics(q, v, tau, base=base, wrenches=wrenches), tau
        a, forces = self.robot.driven_dynamics(
            q,
            v,
            self.driven.accelerations(t),
            tau[..., self.driven.free],
            tuple(self.driven.speeds.tolist()),
            base=base,
            wrenches=wrenches,
        )
        return a, forces
