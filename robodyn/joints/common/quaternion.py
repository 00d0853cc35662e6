"""Rotations as unit quaternions x, y, z, w: rates, steps and logarithms as equations."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.symbolic.scalar import Number, Scalar, by_precision, cos, sin, sqrt, where
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import HALF_TURN_COSINE, SQUARED_ANGLE_FLOOR

#: How often an angle is halved before its tangent is small enough for series.
HALVINGS = 3

#: Of ``arctan(t) / t`` and of ``(1 - y cot y) / y^2``, by powers of ``t^2`` and ``y^2``: what is
#: left out is less than rounding, where angles are below a 64th of a turn.
ARCTANGENT = tuple((-1.0) ** k / (2 * k + 1) for k in range(8))
COTANGENT = (1 / 3, 1 / 45, 2 / 945, 1 / 4725, 2 / 93555)


def quaternion_rates(quat: Sequence[Number], w: Sequence[Number]) -> list[Number]:
    """``quat (w, 0) / 2`` for the angular velocity ``w`` in body axes."""
    axis = Vec3(*quat[:3])
    turning = Vec3(*w)
    rate = turning * quat[3] + axis.cross(turning)
    return [*(rate * 0.5), axis.dot(turning) * -0.5]


def angle_of(w: Vec3) -> Number:
    """Length of a rotation vector, never quite zero."""
    return sqrt(w.dot(w) + SQUARED_ANGLE_FLOOR)


def turned(quat: Sequence[Number], w: Vec3) -> list[Number]:
    """A quaternion times that of a rotation vector ``w`` in body axes, of unit norm.

    The quaternion of ``w`` is ``(sin(|w|/2) w/|w|, cos(|w|/2))``.
    """
    angle = angle_of(w)
    half = angle * 0.5
    b, b_w = w * (sin(half) / angle), cos(half)
    a, a_w = Vec3(*quat[:3]), quat[3]
    vector = b * a_w + a * b_w + a.cross(b)
    scalar = a_w * b_w - a.dot(b)
    square = vector.dot(vector) + scalar * scalar
    inverse = sqrt(square) / square  # not a number where the square is zero or infinite
    return [*(vector * inverse), scalar * inverse]


def relative(a: Sequence[Number], b: Sequence[Number]) -> list[Number]:
    """The rotation that leads from one to another, in axes of the first."""
    u, v = Vec3(*a[:3]), Vec3(*b[:3])
    return [*(v * a[3] - u * b[3] - u.cross(v)), a[3] * b[3] + u.dot(v)]


def logarithm(quat: Sequence[Number]) -> Vec3:
    """Rotation vector of a quaternion of any norm but zero, the short way round [rad]."""
    tangent = _quarter(quat)
    return tangent * (4.0 * _arcs(_halved(tangent.dot(tangent)))[0])


def velocity_along(shift: Vec3, quat: Sequence[Number]) -> Vec3:
    """What, held in axes that turn, leads along a displacement while they turn by a rotation.

    ``shift - w x shift / 2 + g w x (w x shift)`` with the rotation vector ``w``, half its angle
    ``x`` and ``4 g x^2 = 1 - x cot x``. That is ``y tan y + 1 - y cot y`` with ``y = x / 2``, and
    so on, so that numbers which are nearly equal are never taken from each other.
    """
    tangent = _quarter(quat)
    squares = _halved(tangent.dot(tangent))
    arcs = _arcs(squares)
    part = _polynomial(COTANGENT, arcs[-1] * arcs[-1] * squares[-1])
    for arc in reversed(arcs):
        part = (part + 1.0 / arc) * 0.25
    w = tangent * (4.0 * arcs[0])
    once = w.cross(shift)
    return shift - once * 0.5 + w.cross(once) * (part * 0.25)


def _quarter(quat: Sequence[Number]) -> Vec3:
    """Tangent of a quarter of the angle, along the axis: modified Rodrigues parameters."""
    vector, c = Vec3(*quat[:3]), quat[3]
    small = (
        by_precision(c.graph, *HALF_TURN_COSINE) if isinstance(c, Scalar) else HALF_TURN_COSINE[0]
    )
    side: Number = where(c + small < 0.0, -1.0, 1.0)
    return vector * (side / (sqrt(vector.dot(vector) + c * c) + c * side))


def _halved(square: Number) -> list[Number]:
    """Squares of the tangents of an angle, up to an eighth of a turn, of its half, and so on."""
    squares = [square]
    for _ in range(HALVINGS):
        root = 1.0 + sqrt(squares[-1] + 1.0)
        squares.append(squares[-1] / (root * root))
    return squares


def _arcs(squares: list[Number]) -> list[Number]:
    """``arctan(t) / t`` of the tangents of `_halved`: by a series for the last of them."""
    arcs = [_polynomial(ARCTANGENT, squares[-1])]
    for square in reversed(squares[:-1]):
        arcs.append(arcs[-1] * 2.0 / (1.0 + sqrt(square + 1.0)))
    return arcs[::-1]


def _polynomial(factors: Sequence[float], x: Number) -> Number:
    total: Number = 0.0
    for factor in reversed(factors):
        total = total * x + factor
    return total
