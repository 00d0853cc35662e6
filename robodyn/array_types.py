"""Types of arrays and of random generators, for annotations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "FloatArray", "IntArray", "Random"]

#: An array of any dtype, mostly float64 or float32.
Array: TypeAlias = NDArray[Any]

#: An array of float64.
FloatArray: TypeAlias = NDArray[np.float64]

#: An array of indices.
IntArray: TypeAlias = NDArray[np.intp]

if TYPE_CHECKING:
    #: A generator of random numbers, or a seed for one.
    Random: TypeAlias = np.random.Generator | np.random.SeedSequence | Sequence[int] | int
else:  # `robodyn.arrays.generator` checks it: the import of numpy.random would take long
    Random = Any
