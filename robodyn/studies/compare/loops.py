"""Linear models of the loops that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError
from robodyn.robot import Robot
from robodyn.simulation.control.controller import without_sampling
from robodyn.simulation.linear_loop.closed_loop_model import closed_loop_model
from robodyn.simulation.loads.prescribed_loads import BaseAt
from robodyn.state_space import Margins, StateSpace


@dataclass(frozen=True, eq=False)
class Loops:
    """The loops of several controllers at rest in a posture; models are made when asked for.

    t, step [s]: Time at which references are asked, and of which steps controllers without a period
        are sampled.
    """

    robot: Robot
    controllers: Mapping[str, Any]
    posture: FloatArray
    base: BaseAt | None
    t: float
    step: float

    @cached_property
    def models(self) -> Mapping[str, StateSpace]:
        """Linear models by controller, of those that have one there."""
        found = {}
        base = None if self.base is None else self.base(self.t)
        for name, controller in self.controllers.items():
            try:
                dt = None if without_sampling(controller)[1] else self.step
                found[name] = closed_loop_model(
                    self.robot, controller, self.posture, dt=dt, base=base, t=self.t
                )
            except (RobodynError, np.linalg.LinAlgError):
                continue
        return MappingProxyType(found)

    @cached_property
    def margins(self) -> Mapping[str, Mapping[str, Margins]]:
        """Margins at each motor by controller."""
        return MappingProxyType({name: x.margins() for name, x in self.models.items()})

    def lines(self) -> list[list[str]]:
        """Lines of a table: stability, and the least margins with their motors."""
        if not self.models:
            return []
        rows: dict[str, list[str]]
        rows = {"closed loop": [], "phase margin [deg]": [], "sensitivity": []}
        for name in self.controllers:
            model, at = self.models.get(name), self.margins.get(name, {})
            rows["closed loop"].append("-" if model is None else model.stability)
            phases = {x: np.degrees(m.phase) for x, m in at.items()}
            peaks = {x: -m.sensitivity for x, m in at.items()}
            rows["phase margin [deg]"].append(_least(phases))
            rows["sensitivity"].append(_least(peaks).removeprefix("-"))
        return [[label, *cells] for label, cells in rows.items()]


def _least(found: Mapping[str, float]) -> str:
    """The least of some numbers, and its name."""
    if not found:
        return "-"
    name = min(found, key=lambda x: found[x])
    return f"{found[name]:.3g} {name.removeprefix('tau:')}"
