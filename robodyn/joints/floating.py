"""Floating: position and unit quaternion x, y, z, w; speeds are the body twist."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.joints.common.coordinates import Coordinates
from robodyn.joints.common.cut import Cut
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.quaternion import (
    angle_of,
    logarithm,
    quaternion_rates,
    relative,
    turned,
    velocity_along,
)
from robodyn.joints.common.relative import quaternion_of
from robodyn.symbolic.scalar import Number, sin
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Rotation, Vec3

Numbers = Sequence[Number]


def _orientation(q: Numbers) -> Rotation:
    return Rotation.from_quaternion(q[3], q[4], q[5], q[6])


def _state(joint: JointGeometry, q: Numbers, v: Numbers) -> JointState:
    X = Placement(_orientation(q), Vec3(q[0], q[1], q[2]))
    axes = (EX, EY, EZ)
    return JointState(X, [Twist(v=e) for e in axes] + [Twist(ZERO3, e) for e in axes])


def _rates(q: Numbers, v: Numbers) -> list[Number]:
    return [*(_orientation(q) * Vec3(*v[:3])), *quaternion_rates(q[3:], v[3:])]


def _step(q: Numbers, d: Numbers) -> list[Number]:
    """Along a screw."""
    shift = _shift(Vec3(*d[:3]), Vec3(*d[3:]))
    return [*(Vec3(*q[:3]) + _orientation(q) * shift), *turned(q[3:], Vec3(*d[3:]))]


def _shift(v: Vec3, w: Vec3) -> Vec3:
    """Displacement with a constant twist, in the axes at the start: the mean rotation times v.

    ``v + (1 - cos t)/t^2 w x v + (t - sin t)/t^3 w x (w x v)``
    """
    angle = angle_of(w)
    half = sin(angle * 0.5) / angle
    square = 1.0 / (angle * angle)
    once = w.cross(v)
    return v + once * (2.0 * half * half) + w.cross(once) * ((1.0 - sin(angle) / angle) * square)


def _bracket(x: Numbers, y: Numbers) -> list[Number]:
    v, w = Vec3(*x[:3]), Vec3(*x[3:])
    other, turning = Vec3(*y[:3]), Vec3(*y[3:])
    return [*(w.cross(other) + v.cross(turning)), *w.cross(turning)]


def _difference(x: Numbers, y: Numbers) -> list[Number]:
    """The screw that leads from one to the other."""
    turn = relative(x[3:], y[3:])
    shift = _orientation(x).inverse_times(Vec3(*y[:3]) - Vec3(*x[:3]))
    return [*velocity_along(shift, turn), *logarithm(turn)]


KIND = JointKind(
    "floating",
    nq=7,
    nv=6,
    state=_state,
    units=("m", "m", "m", "rad"),
    coordinates=Coordinates(_rates, _step, _bracket, _difference, quaternion=True),
    cut=Cut(
        rows=lambda m, cut: [],
        axes=lambda X, cut: [Twist(v=e) for e in (EX, EY, EZ)] + [Twist(w=e) for e in (EX, EY, EZ)],
        position=lambda X, cut: np.concatenate([X[..., :3, 3], quaternion_of(X)], axis=-1),
    ),
    orientation=_orientation,
)
