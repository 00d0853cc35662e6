"""The classical Runge-Kutta method: four accelerations a step, of fourth order."""

from __future__ import annotations

from robodyn.simulation.integrators.runge_kutta import RungeKutta

__all__ = ["METHOD"]

METHOD = RungeKutta(4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
