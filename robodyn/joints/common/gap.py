"""Residuals of a joint that was cut: zero where it is closed, and nowhere else.

The rows of constraints (`cut`) are products of axes. A product vanishes at a half turn, too,
which is no closed joint. A turn by an angle A is measured by ``2 sin(A / 2)`` along its axis. It
has the slope of the angle where the joint is closed, and is largest at a half turn. It follows
from the components ``s`` of ``sin A`` along the axis and from ``c = cos A``::

    2 sin(A / 2) = 2 sin A / sqrt((1 + c)^2 + s . s)

A half turn has no axis that it could be measured along; ``sin(A / 2)^8`` is added to the first
component, so that it is not zero there either. That leaves all slopes of a closed joint as they
are, and makes no other zero, because it is less than ``2 sin(A / 2)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints.common import jet
from robodyn.joints.common.cut import RelativeMotion, product
from robodyn.joints.common.jet import Jet
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.vector import EX, EY, EZ
from robodyn.tolerances import SQUARED_COSINE_FLOOR


def unfolded(sines: Sequence[Jet], cosine: Jet) -> list[Row]:
    """``2 sin(A / 2)`` along the axis of a turn, of ``sin A`` along it and ``cos A``."""
    squares = sum((s * s for s in sines), (cosine + 1.0) * (cosine + 1.0) + SQUARED_COSINE_FLOOR)
    factor = jet.sqrt(squares).inverse * 2.0
    half = (1.0 - cosine) * 0.5
    rows = [s * factor for s in sines]
    rows[0] = rows[0] + half * half * half * half
    return [row.row for row in rows]


def axis_gap(m: RelativeMotion) -> list[Row]:
    """How z of G is turned away from z of F, about x and y."""
    sines = [-product(m, EY, EZ), product(m, EX, EZ)]
    return unfolded(sines, product(m, EZ, EZ))


def rotation_gap(m: RelativeMotion) -> list[Row]:
    """How G is turned away from F, about x, y and z."""
    axes = (EX, EY, EZ)
    R = [[product(m, a, b) for b in axes] for a in axes]
    sines = [(R[2][1] - R[1][2]) * 0.5, (R[0][2] - R[2][0]) * 0.5, (R[1][0] - R[0][1]) * 0.5]
    return unfolded(sines, (R[0][0] + R[1][1] + R[2][2] - 1.0) * 0.5)
