"""Quadratic programs, solved by DAQP [Arnstrom, Bemporad, Axehill 2022] (extra ``qp``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError

#: What DAQP takes for each pair of bounds: 5 where both are the same, which are equations.
SENSES = np.array([0, 5], np.intc)

#: What stands for no bound.
FAR = 1e30


@cache
def _solver() -> Callable[..., Any]:
    """The function of DAQP."""
    try:
        from daqp import solve
    except ImportError as error:
        raise MissingExtraError("daqp", "qp", "tasks within limits") from error
    found: Callable[..., Any] = solve
    return found


def least(
    H: FloatArray, f: FloatArray, A: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray | None:
    """The x with the least ``x^T H x / 2 + f^T x`` within bounds; ``None`` if there is none.

    H (n, n): Positive definite. A (m, n): Sums that have bounds.
    lower, upper (k + m,): Of the first k of x, all or none of them, then of all sums.
    """
    x, _, flag, _ = _solver()(H, f, A, upper, lower, SENSES.take(lower == upper))
    return np.asarray(x) if flag > 0 else None
