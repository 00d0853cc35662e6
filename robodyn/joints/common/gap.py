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
from robodyn.joints.common.cut import RelativeMotion
from robodyn.joints.common.jet import Jet
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.vector import EX, EY, EZ, Vec3
from robodyn.tolerances import SQUARED_COSINE_FLOOR


def position_jet(m: RelativeMotion, e: Vec3) -> Jet:
    """Component of the position of G along an axis of F."""
    slopes = {k: e.dot(v) for k, (v, _) in m.columns.items()}
    return Jet(e.dot(m.X.p), slopes, e.dot(m.v), e.dot(m.dv))


def product_jet(m: RelativeMotion, a: Vec3, b_G: Vec3) -> Jet:
    """``a . b`` of an axis of F and one of G."""
    b = m.X.R * b_G
    axis = b.cross(a)
    slopes = {k: axis.dot(w) for k, (_, w) in m.columns.items()}
    bias = m.w.cross(b).cross(a).dot(m.w) + axis.dot(m.dw)
    return Jet(a.dot(b), slopes, axis.dot(m.w), bias)


def unfolded(sines: Sequence[Jet], cosine: Jet) -> list[Row]:
    """``2 sin(A / 2)`` along the axis of a turn, of ``sin A`` along it and ``cos A``."""
    squares = sum((s * s for s in sines), (cosine + 1.0) * (cosine + 1.0) + SQUARED_COSINE_FLOOR)
    factor = jet.sqrt(squares).inverse * 2.0
    half = (1.0 - cosine) * 0.5
    rows = [s * factor for s in sines]
    rows[0] = rows[0] + half * half * half * half
    return [Row(row.value, dict(row.slopes), row.bias) for row in rows]


def axis_gap(m: RelativeMotion) -> list[Row]:
    """How z of G is turned away from z of F, about x and y."""
    sines = [-product_jet(m, EY, EZ), product_jet(m, EX, EZ)]
    return unfolded(sines, product_jet(m, EZ, EZ))


def rotation_gap(m: RelativeMotion) -> list[Row]:
    """How G is turned away from F, about x, y and z."""
    axes = (EX, EY, EZ)
    R = [[product_jet(m, a, b) for b in axes] for a in axes]
    sines = [(R[2][1] - R[1][2]) * 0.5, (R[0][2] - R[2][0]) * 0.5, (R[1][0] - R[0][1]) * 0.5]
    return unfolded(sines, (R[0][0] + R[1][1] + R[2][2] - 1.0) * 0.5)
