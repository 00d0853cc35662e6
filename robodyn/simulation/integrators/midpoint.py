"""The explicit midpoint method: the acceleration in the middle of the step moves all of it."""

from __future__ import annotations

from robodyn.simulation.integrators.runge_kutta import RungeKutta

__all__ = ["METHOD"]

METHOD = RungeKutta(2, ((), (0.5,)), (0.0, 1.0))
