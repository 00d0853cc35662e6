"""Quick looks at arrays of numbers: single precision, NaN, the largest magnitude."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array


def is_single(x: ArrayLike) -> bool:
    """Whether it is an array in single precision."""
    return isinstance(x, np.ndarray) and x.dtype == np.float32


def in_double(x: ArrayLike) -> ArrayLike:
    """An array in double precision; anything else unchanged, as it is checked elsewhere."""
    return x.astype(float) if is_single(x) and isinstance(x, np.ndarray) else x


def result_type(possible: bool, *given: ArrayLike) -> np.dtype[Any]:
    """Type of results: single precision where that is possible and all that was given is."""
    return np.dtype(np.float32 if possible and all(map(is_single, given)) else float)


def all_numbers(x: Array) -> bool:
    """Whether there is no NaN; one state is checked without numpy, which would be slower."""
    if x.ndim == 1:
        total = sum(x.tolist())
        return bool(total == total)
    return not np.isnan(x.min(initial=0.0))


def largest(x: Array) -> float:
    """Largest magnitude; zero for an empty array."""
    if x.ndim == 1:
        return max(map(abs, x.tolist()), default=0.0)
    return float(np.abs(x).max(initial=0.0))
