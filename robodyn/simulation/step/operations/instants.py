"""Time as the text of an integrator meets it while a step is written down as a program.

``t + 0.5 * h`` is an `Instant`, of which is known what part of the step has gone by; ``h * v`` is a
value of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.integrators.method import Integrator, Start, coordinates

__all__ = ["Duration", "Instant", "instants_of", "with_end"]


@dataclass(frozen=True)
class Instant:
    """An instant of a step.

    Attributes
    ----------
    part : float
        0 at its start, 1 at its end.
    """

    part: float

    def __add__(self, other: Duration) -> Instant:
        return Instant(self.part + other.part)


@dataclass(frozen=True)
class Duration:
    """A part of the step.

    Attributes
    ----------
    part : float
    seconds : Any
        What values of the program are multiplied with.
    """

    part: float
    seconds: Any

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            return Duration(self.part * other, self.seconds * other)
        return self.seconds * other

    __rmul__ = __mul__


def instants_of(method: Integrator) -> tuple[float, ...]:
    """Parts of a step at which a method asks for accelerations, the start first."""
    seen = {0.0: None}

    def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        seen[t] = None
        return v

    zero = np.zeros(1)
    method.step(acceleration, coordinates(), Start(0.0, zero, zero, zero), 1.0)
    return tuple(seen)


def with_end(instants: tuple[float, ...]) -> tuple[float, ...]:
    """The same and the end of the step, the last of them."""
    return instants if instants[-1] == 1.0 else (*instants, 1.0)
