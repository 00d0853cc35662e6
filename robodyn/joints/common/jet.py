"""Functions of the posture with their derivatives, so that a formula gives its own slopes."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import scalar
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class Jet:
    """A number that moves with the robot.

    slopes: Its rate a unit of each speed.
    rate: Its rate.
    bias: Its second derivative in time where all accelerations are zero.
    """

    value: Number
    slopes: Mapping[int, Number]
    rate: Number
    bias: Number

    def _of(self, value: Number, first: Number, second: Number) -> Jet:
        """A function of it, by its value and its two derivatives."""
        slopes = {k: first * x for k, x in self.slopes.items()}
        bias = second * (self.rate * self.rate) + first * self.bias
        return Jet(value, slopes, first * self.rate, bias)

    def __add__(self, other: Jet | float) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slopes, self.rate, self.bias)
        slopes = dict(self.slopes)
        for k, x in other.slopes.items():
            slopes[k] = slopes[k] + x if k in slopes else x
        return Jet(self.value + other.value, slopes, self.rate + other.rate, self.bias + other.bias)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Jet | float) -> Jet:
        return self + -other

    def __rsub__(self, other: float) -> Jet:
        return -self + other

    def __mul__(self, other: Jet | float) -> Jet:
        if not isinstance(other, Jet):
            return self._of(self.value * other, other, 0.0)
        slopes = {k: x * other.value for k, x in self.slopes.items()}
        for k, x in other.slopes.items():
            slopes[k] = slopes[k] + self.value * x if k in slopes else self.value * x
        return Jet(
            self.value * other.value,
            slopes,
            self.rate * other.value + self.value * other.rate,
            self.bias * other.value + 2.0 * (self.rate * other.rate) + self.value * other.bias,
        )

    __rmul__ = __mul__

    @property
    def row(self) -> Row:
        """The constraint that it is zero."""
        return Row(self.value, dict(self.slopes), self.bias)

    @property
    def inverse(self) -> Jet:
        """One over it."""
        x = 1.0 / self.value
        return self._of(x, -(x * x), 2.0 * (x * x * x))


def sqrt(x: Jet) -> Jet:
    """Square root of a positive one."""
    root = scalar.sqrt(x.value)
    first = 0.5 / root
    return x._of(root, first, -0.5 * first / x.value)


def sin(x: Jet) -> Jet:
    """Sine of an angle [rad]."""
    s, c = scalar.sin(x.value), scalar.cos(x.value)
    return x._of(s, c, -s)


def cos(x: Jet) -> Jet:
    """Cosine of an angle [rad]."""
    s, c = scalar.sin(x.value), scalar.cos(x.value)
    return x._of(c, -s, -c)
