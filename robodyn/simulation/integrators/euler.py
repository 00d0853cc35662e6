"""Euler's method: one acceleration a step."""

from __future__ import annotations

from robodyn.simulation.integrators.runge_kutta import RungeKutta

__all__ = ["METHOD"]

METHOD = RungeKutta(1, ((),), (1.0,))
