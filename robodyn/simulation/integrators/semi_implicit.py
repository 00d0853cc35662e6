"""Euler's method with the position moved by the new velocity, which keeps energy bounded."""

from __future__ import annotations

from robodyn.array_types import FloatArray
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import Acceleration, Coordinates, Start


@dataclass(frozen=True)
class SemiImplicitEuler:
    """One acceleration a step; the new velocity moves the position."""

    order: int = 1

    def step(
        self, acceleration: Acceleration, coordinates: Coordinates, start: Start, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step; see `Integrator`."""
        v = start.v + h * start.a
        return coordinates.move(start.q, h * v), v


METHOD = SemiImplicitEuler()
