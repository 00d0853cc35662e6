"""Results of straight-line code that are numbers only where they can be trusted.

Code without branches cannot raise an error: what it is not to be trusted with is not a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn.symbolic.scalar import Number, Scalar, where


def inverse_above(pivot: Number, least: Number) -> Number:
    """Inverse of a number; not a number where it is below another one, which is positive."""
    found: Number = where(pivot >= least, 1.0 / pivot, math.nan)
    return found


def if_not_negative(values: Sequence[Number], test: Number) -> list[Number]:
    """Values, of which one is not a number where a tested number is negative."""
    result = list(values)
    if result:
        k = next((k for k, x in enumerate(result) if isinstance(x, Scalar)), 0)
        result[k] = where(test >= 0.0, result[k], math.nan)
    return result
