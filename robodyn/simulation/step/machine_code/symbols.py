"""Time, step and arrays as the text of an integrator meets them while its program is written.

``t + 0.5 * h`` is an `Instant`, ``(h * 0.5) * v`` is an array. What the text does with arrays is
what `robodyn.codegen.llvm.builder.rows` writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robodyn.codegen.llvm.builder.code import Number
from robodyn.codegen.llvm.builder.rows import Rows

__all__ = ["Duration", "Instant"]


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
    seconds : Number
    """

    part: float
    seconds: Number

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Rows):
            return other.scaled(self.seconds)
        factor = float(other)
        text = f"fmul double {self.seconds.name}, {factor:.17e}"
        return Duration(self.part * factor, self.seconds.code.put(text, "double"))

    __rmul__ = __mul__
