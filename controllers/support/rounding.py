"""Rounding to multiples of a quantum, as encoders and converters do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.array_types import FloatArray
from robodyn.symbolic.scalar import floor

from .gains import real


def quanta(value: ArrayLike) -> FloatArray:
    """Quanta of an argument ``quantum``: one, or one for each number; zero: no rounding.

    Raises
    ------
    ShapeError
    """
    expected = "a finite number >= 0, or one for each number"
    return real("quantum", value, expected, lambda x: (x >= 0.0) & (x < np.inf) & (x.ndim < 2))


def rounded(x: FloatArray, quantum: FloatArray) -> FloatArray:
    """The nearest multiples, shape (..., n), of numbers or symbols.

    Raises
    ------
    ShapeError
        If there are other numbers of quanta.
    """
    if not quantum.any():
        return x
    n = x.shape[-1]
    if quantum.shape not in ((), (1,), (n,)):
        raise ShapeError(
            f"quantum has shape {quantum.shape}, expected one number or {n}",
            name="quantum",
            given=quantum.shape,
            expected=(n,),
        )
    each, found = np.broadcast_to(quantum, (n,)), np.array(x)
    at = np.flatnonzero(each)
    found[..., at] = floor(x[..., at] / each[at] + 0.5) * each[at]
    return found
