"""Types of arrays, for signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "FloatArray", "IntArray"]

#: Of any dtype: float64 or float32, mostly.
Array: TypeAlias = NDArray[Any]

#: In double precision.
FloatArray: TypeAlias = NDArray[np.float64]

#: Indices.
IntArray: TypeAlias = NDArray[np.intp]
