"""Explicit Runge-Kutta methods, by their weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from robodyn.array_types import FloatArray
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import Acceleration, Coordinates, Start

#: (index of a stage, its weight), for the weights that are not zero.
Terms = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge-Kutta method.

    a: Row ``k``: weights of the stages before stage ``k``.
    b: Weights of the stages in the step.
    """

    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    def step(
        self, acceleration: Acceleration, coordinates: Coordinates, start: Start, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step; see `Integrator`."""
        u, dv = (
            combined(self._terms[1], rows, h)
            for rows in self.stages(acceleration, coordinates, start, h)
        )
        return coordinates.move(start.q, u), start.v + dv

    def stages(
        self, acceleration: Acceleration, coordinates: Coordinates, start: Start, h: float
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Rates of ``u``, and accelerations, of all stages."""
        move, rate, (t, q, v, a) = coordinates.move, coordinates.rate, start
        speeds, accelerations = [v], [a]
        for part, terms in self._terms[0]:
            u = combined(terms, speeds, h)
            v_stage = v + combined(terms, accelerations, h)
            accelerations.append(acceleration(t + part * h, move(q, u), v_stage))
            speeds.append(rate(u, v_stage))
        return speeds, accelerations

    @cached_property
    def _terms(self) -> tuple[tuple[tuple[float, Terms], ...], Terms]:
        """Of each stage but the first: its part of the step, and its terms; the step's terms."""
        return tuple((sum(row), nonzero(row)) for row in self.a[1:]), nonzero(self.b)


def nonzero(weights: Sequence[float]) -> Terms:
    """The weights that are not zero, with their places."""
    return tuple((k, w) for k, w in enumerate(weights) if w)


def combined(terms: Terms, rows: Sequence[FloatArray], h: float) -> FloatArray:
    """``h`` times the weighted sum of some rows."""
    k, weight = terms[0]
    total = (h * weight) * rows[k]
    for k, weight in terms[1:]:
        total = total + (h * weight) * rows[k]
    return total


#: The methods of the field's books, by name.
METHODS = {
    "euler": RungeKutta(1, ((),), (1.0,)),
    "heun": RungeKutta(2, ((), (1.0,)), (0.5, 0.5)),
    "midpoint": RungeKutta(2, ((), (0.5,)), (0.0, 1.0)),
    "rk4": RungeKutta(4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}
