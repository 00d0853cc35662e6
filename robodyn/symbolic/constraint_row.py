"""One scalar constraint of positions and speeds, as equations."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class Row:
    """One scalar constraint.

    residual [m, rad]
    bias: ``K_dot v``.
    offset: Possible velocities have ``K v = -offset``.
    """

    residual: Number
    jacobian: dict[int, Number]
    bias: Number
    offset: Number = 0.0

    def scaled(self, factor: float) -> Row:
        """The row in another unit."""
        slopes = {k: x * factor for k, x in self.jacobian.items()}
        return Row(self.residual * factor, slopes, self.bias * factor, self.offset * factor)

    def rate(self, v: Sequence[Number]) -> Number:
        """Rate of the residual at some speeds."""
        return sum((x * v[k] for k, x in self.jacobian.items()), self.offset)

    def acceleration(self, a: Sequence[Number]) -> Number:
        """Second derivative of the residual at some accelerations."""
        return sum((x * a[k] for k, x in self.jacobian.items()), self.bias)
