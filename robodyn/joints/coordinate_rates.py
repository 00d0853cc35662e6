"""Rates of a joint's coordinates from its speeds: equal for most kinds, kinematic maps for some."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.vector import Vec3

__all__ = ["coordinate_rates"]


def coordinate_rates(kind: str, q: Sequence[Number], v: Sequence[Number]) -> list[Number]:
    """``dq/dt`` of one joint, in the order of q.

    Parameters
    ----------
    kind : str
    q, v : sequence of numbers
        Its own coordinates and speeds.
    """
    if kind == "planar":
        c, s = cos(q[2]), sin(q[2])
        return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]
    if kind == "spherical":
        return _quaternion_rates(q, v)
    if kind == "floating":
        R = Rotation.from_quaternion(q[3], q[4], q[5], q[6])
        return [*(R * Vec3(*v[:3])), *_quaternion_rates(q[3:], v[3:])]
    return list(v)


def _quaternion_rates(q: Sequence[Number], w: Sequence[Number]) -> list[Number]:
    """``q (w, 0) / 2`` for x, y, z, w and the angular velocity in body axes."""
    axis = Vec3(*q[:3])
    turning = Vec3(*w)
    rate = turning * q[3] + axis.cross(turning)
    return [*(rate * 0.5), axis.dot(turning) * -0.5]
