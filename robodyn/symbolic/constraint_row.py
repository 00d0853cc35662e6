"""One scalar constraint of positions and speeds, as equations."""

from __future__ import annotations

from dataclasses import dataclass

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
