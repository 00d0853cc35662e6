"""Explicit Runge-Kutta methods over joint coordinates.

Coordinates such as quaternions do not add. Within a step the position is therefore written as
``integrate(q, u)`` with a joint twist ``u``, which does add, and the method is applied to ``u`` and
``v`` [Munthe-Kaas 1998]. For coordinates that add, this is the method of the book.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import UnknownNameError
from robodyn.robot import Robot

__all__ = ["INTEGRATORS", "Tableau", "integrator", "step"]

Array = NDArray[np.float64]
#: (t, q, v) -> acceleration.
Acceleration = Callable[[float, Array, Array], Array]


@dataclass(frozen=True)
class Tableau:
    """Coefficients of an explicit method.

    Attributes
    ----------
    order : int
    a : tuple of tuple of float
        Row ``k``: weights of the stages before stage ``k``.
    b : tuple of float
        Weights of the stages in the step.
    """

    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


#: Methods by name: Euler; midpoint; Heun; the classical Runge-Kutta method.
INTEGRATORS = {
    "euler": Tableau(1, ((),), (1.0,)),
    "midpoint": Tableau(2, ((), (0.5,)), (0.0, 1.0)),
    "heun": Tableau(2, ((), (1.0,)), (0.5, 0.5)),
    "rk4": Tableau(4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}


def integrator(name: str) -> Tableau:
    """Coefficients of a method, or `UnknownNameError`."""
    if name not in INTEGRATORS:
        raise UnknownNameError("integrator", name, INTEGRATORS)
    return INTEGRATORS[name]


def step(
    tableau: Tableau,
    acceleration: Acceleration,
    robot: Robot,
    t: float,
    q: Array,
    v: Array,
    h: float,
    first: Array,
) -> tuple[Array, Array]:
    """Position and velocity after a step of ``h`` [s]; ``first``: acceleration at its start."""
    speeds, accelerations = [v], [first]
    for row in tableau.a[1:]:
        moved = sum((w * s for w, s in zip(row, speeds, strict=True) if w), np.zeros_like(v))
        pushed = sum((w * s for w, s in zip(row, accelerations, strict=True) if w), 0.0 * v)
        q_stage, v_stage = robot.integrate(q, h * moved), v + h * pushed
        accelerations.append(acceleration(t + h * sum(row), q_stage, v_stage))
        speeds.append(robot.tangent_rate(h * moved, v_stage))
    mean_v = sum((w * s for w, s in zip(tableau.b, speeds, strict=True) if w), np.zeros_like(v))
    mean_a = sum((w * s for w, s in zip(tableau.b, accelerations, strict=True) if w), 0.0 * v)
    return robot.integrate(q, h * mean_v), v + h * mean_a
