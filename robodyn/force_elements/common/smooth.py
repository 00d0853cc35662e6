"""Functions without branches: what is zero on one side is a sum of a number and its size."""

from __future__ import annotations

from robodyn.symbolic.scalar import Number, sqrt
from robodyn.tolerances import PENETRATION_FLOOR

__all__ = ["positive", "power"]


def positive(x: Number) -> Number:
    """``x`` where it is positive, else zero."""
    return (x + sqrt(x * x + PENETRATION_FLOOR**2)) * 0.5


def power(x: Number, exponent: float) -> Number:
    """Of a number that is not negative, to a whole or half power of at least one."""
    whole = int(exponent)
    result: Number = x**whole
    return result * sqrt(x + PENETRATION_FLOOR**2) if exponent > whole else result
