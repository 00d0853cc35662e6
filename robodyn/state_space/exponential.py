"""The exponential of matrices, without scipy, whose import takes longer than it."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array

#: Terms of the series, of matrices whose norm is at most 1: what is left is below rounding.
TERMS = 20


def exponential(M: Array) -> Array:
    """``exp(M)`` of matrices, shape (..., n, n), by scaling and squaring of a power series."""
    unit = np.eye(M.shape[-1])
    norm = float(np.abs(M).sum(axis=-2).max(initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(norm)))) if 0.0 < norm < np.inf else 0
    X = M / 2.0**squarings
    found = unit + X / TERMS
    for k in range(TERMS - 1, 0, -1):
        found = unit + (X / k) @ found
    for _ in range(squarings):
        found = found @ found
    return np.asarray(found)
