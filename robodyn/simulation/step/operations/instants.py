"""The time while a step is traced: integrators compute with it as with numbers.

``t + 0.5 * h`` is an `Instant`, which is known as a fraction of the step; ``h * v`` is a value of
the traced program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import FLAT, Integrator, Start


@dataclass(frozen=True)
class Instant:
    """An instant of a step.

    part: 0 at its start, 1 at its end.
    """

    part: float

    def __add__(self, other: Duration) -> Instant:
        return Instant(self.part + other.part)


@dataclass(frozen=True)
class Duration:
    """A fraction of the duration of the step.

    seconds: The duration in the traced program, by which values are multiplied.
    """

    part: float
    seconds: Any

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            return Duration(self.part * other, self.seconds * other)
        return self.seconds * other

    __rmul__ = __mul__


def instants_of(method: Integrator) -> tuple[float, ...]:
    """Fractions of a step at which a method evaluates accelerations, the start first."""
    seen = {0.0: None}

    def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        seen[t] = None
        return v

    zero = np.zeros(1)
    method.step(acceleration, FLAT, Start(0.0, zero, zero, zero), 1.0)
    return tuple(seen)


def with_end(instants: tuple[float, ...]) -> tuple[float, ...]:
    """These fractions, and the end of the step as the last one."""
    return instants if instants[-1] == 1.0 else (*instants, 1.0)
