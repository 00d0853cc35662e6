"""Functions without branches, built from absolute values, for straight-line code."""

from __future__ import annotations

from robodyn.symbolic.scalar import Number, sqrt
from robodyn.tolerances import PENETRATION_FLOOR

__all__ = ["positive", "power"]


def positive(x: Number) -> Number:
    """``x`` where it is positive, else zero."""
    return (x + sqrt(x * x + PENETRATION_FLOOR**2)) * 0.5


def power(x: Number, exponent: float) -> Number:
    """Power of a number that is not negative; exponents are multiples of 1/2 from 1 on."""
    whole = int(exponent)
    result: Number = x**whole
    return result * sqrt(x + PENETRATION_FLOOR**2) if exponent > whole else result
