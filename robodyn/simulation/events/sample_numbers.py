"""Numbers of many samples at once, which behave like one number in arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from robodyn.array_types import FloatArray

__all__ = ["SampleNumbers"]


class SampleNumbers(NDArrayOperatorsMixin):
    """One number of each sample of a motion, for a function that is written for one sample.

    Operators and universal functions of numpy act on each sample by itself. Operations that would
    combine samples, such as the maximum of an array, or decide by them, raise a `TypeError`. The
    object never changes.

    values (n,)
    """

    __slots__ = ("values",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: FloatArray) -> None:
        self.values = values

    def __bool__(self) -> bool:
        raise TypeError("the numbers of many samples have no common truth value")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """Apply a function to each sample by itself."""
        in_place = options.pop("out", (self,))  # x += 1 makes another object, as of a number
        alone = all(isinstance(x, SampleNumbers) or np.ndim(x) == 0 for x in given)
        if method != "__call__" or options or not alone or ufunc.signature is not None:
            return NotImplemented
        if not all(x is given[0] or x is self for x in in_place):
            return NotImplemented
        found = ufunc(*(x.values if isinstance(x, SampleNumbers) else x for x in given))
        if isinstance(found, tuple):
            return tuple(map(SampleNumbers, found))
        return SampleNumbers(found)
