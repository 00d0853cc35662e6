"""Heun's method: the mean of the accelerations at the start and, by Euler's method, at the end."""

from __future__ import annotations

from robodyn.simulation.integrators.runge_kutta import RungeKutta

__all__ = ["METHOD"]

METHOD = RungeKutta(2, ((), (1.0,)), (0.5, 0.5))
