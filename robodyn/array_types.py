"""Types of arrays and of random numbers, for signatures."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "FloatArray", "IntArray", "Random"]

#: Of any dtype: float64 or float32, mostly.
Array: TypeAlias = NDArray[Any]

#: In double precision.
FloatArray: TypeAlias = NDArray[np.float64]

#: Indices.
IntArray: TypeAlias = NDArray[np.intp]

#: A generator of random numbers, or what makes one.
Random: TypeAlias = np.random.Generator | np.random.SeedSequence | Sequence[int] | int
