"""One-step methods over joint coordinates.

Coordinates such as quaternions do not add. Within a step the position is therefore written as
``integrate(q, u)`` with a joint twist ``u``, which does add, and the method is applied to ``u`` and
``v`` [Munthe-Kaas 1998]. For coordinates that add, this is the method of the book.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from robodyn.array_types import FloatArray
from robodyn.errors import UnknownNameError
from robodyn.robot import Robot

__all__ = [
    "INTEGRATORS",
    "Coordinates",
    "Integrator",
    "RungeKutta",
    "SemiImplicitEuler",
    "coordinates_of",
    "integrator",
]

#: (t, q, v) -> acceleration.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]
#: (index of a stage, its weight), for the weights that are not zero.
Terms = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Coordinates:
    """How the coordinates of a robot move.

    Attributes
    ----------
    move : callable
        ``(q, u)`` -> position after moving with ``u``.
    rate : callable
        ``(u, v)`` -> rate of ``u`` when the robot moves with speed ``v``.
    """

    move: Callable[[FloatArray, FloatArray], FloatArray]
    rate: Callable[[FloatArray, FloatArray], FloatArray]


def coordinates_of(robot: Robot) -> Coordinates:
    """The coordinates of a robot; those that add are added without a call of the robot."""
    if all(robot.joints[name].kind.coordinates.flat for name in robot.joint_names):
        return Coordinates(operator.add, lambda u, v: v)
    return Coordinates(robot.integrate, robot.tangent_rate)


class Integrator(Protocol):
    """What moves a state over one step."""

    @property
    def order(self) -> int:
        """The error of a motion is of this order in the step."""

    def step(
        self,
        acceleration: Acceleration,
        coordinates: Coordinates,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        first: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step of ``h`` [s]; ``first``: acceleration at its start."""


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge-Kutta method.

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

    def step(
        self,
        acceleration: Acceleration,
        coordinates: Coordinates,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        first: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step; see `Integrator`."""
        move, rate = coordinates.move, coordinates.rate
        speeds, accelerations = [v], [first]
        stages, whole = self._terms
        for part, terms in stages:
            u = _combined(terms, speeds, h)
            v_stage = v + _combined(terms, accelerations, h)
            accelerations.append(acceleration(t + part * h, move(q, u), v_stage))
            speeds.append(rate(u, v_stage))
        return move(q, _combined(whole, speeds, h)), v + _combined(whole, accelerations, h)

    @cached_property
    def _terms(self) -> tuple[tuple[tuple[float, Terms], ...], Terms]:
        """Of each stage but the first: its part of the step, and its terms; the step's terms."""
        return tuple((sum(row), _nonzero(row)) for row in self.a[1:]), _nonzero(self.b)


@dataclass(frozen=True)
class SemiImplicitEuler:
    """Euler's method with the position moved by the new velocity, which keeps energy bounded."""

    order: int = 1

    def step(
        self,
        acceleration: Acceleration,
        coordinates: Coordinates,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        first: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step; see `Integrator`."""
        v = v + h * first
        return coordinates.move(q, h * v), v


def _nonzero(weights: tuple[float, ...]) -> Terms:
    return tuple((k, w) for k, w in enumerate(weights) if w)


def _combined(terms: Terms, rows: Sequence[FloatArray], h: float) -> FloatArray:
    """``h`` times the weighted sum of some rows."""
    k, weight = terms[0]
    total = (h * weight) * rows[k]
    for k, weight in terms[1:]:
        total += (h * weight) * rows[k]
    return total


#: Methods by name: Euler; with the new velocity; midpoint; Heun; the classical Runge-Kutta method.
INTEGRATORS: dict[str, Integrator] = {
    "euler": RungeKutta(1, ((),), (1.0,)),
    "semi_implicit": SemiImplicitEuler(),
    "midpoint": RungeKutta(2, ((), (0.5,)), (0.0, 1.0)),
    "heun": RungeKutta(2, ((), (1.0,)), (0.5, 0.5)),
    "rk4": RungeKutta(4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}


def integrator(name: str) -> Integrator:
    """A method by its name, or `UnknownNameError`."""
    if name not in INTEGRATORS:
        raise UnknownNameError("integrator", name, INTEGRATORS)
    return INTEGRATORS[name]
