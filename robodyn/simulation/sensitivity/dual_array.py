"""Arrays with their derivatives: dual numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from robodyn.array_types import FloatArray


@dataclass(frozen=True, eq=False)
class DualArray:
    """An array and its derivatives with respect to m variables.

    It has the two operations that integrators need: sums, and products with numbers.

    value (..., n)
    derivative (..., k, m): Derivatives of coordinates are in tangent space: ``k`` is the number of
        speeds.
    """

    #: numpy leaves products with arrays to this class.
    __array_ufunc__: ClassVar[None] = None

    value: FloatArray
    derivative: FloatArray

    def __add__(self, other: DualArray) -> DualArray:
        return DualArray(self.value + other.value, self.derivative + other.derivative)

    def __rmul__(self, factor: Any) -> DualArray:
        """The product with a number, or with one number for each state, shape (..., 1)."""
        of_derivative = np.asarray(factor)[..., None] if np.ndim(factor) else factor
        return DualArray(factor * self.value, of_derivative * self.derivative)
