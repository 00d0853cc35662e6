"""Planar: position in the plane across an axis, and angle about it; speeds are in child axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.joints.common.coordinates import Coordinates
from robodyn.joints.common.cut import Cut, along, parallel
from robodyn.joints.common.gap import axis_gap
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.relative import turn_about_z
from robodyn.symbolic.scalar import Number, cos, sin, sqrt
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, Rotation, Vec3
from robodyn.tolerances import SQUARED_ANGLE_FLOOR

Numbers = Sequence[Number]


def _state(joint: JointGeometry, q: Numbers, v: Numbers) -> JointState:
    """``q`` = x, y, angle; ``v`` = vx, vy, w."""
    X = Placement(Rotation.about(2, q[2]), Vec3(q[0], q[1], 0.0))
    return JointState(X, [Twist(v=EX), Twist(v=EY), Twist(w=EZ)])


def _rates(q: Numbers, v: Numbers) -> list[Number]:
    c, s = cos(q[2]), sin(q[2])
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


def _step(q: Numbers, d: Numbers) -> list[Number]:
    """Along an arc: the mean of cosine and sine over the step is that of its middle, shortened."""
    half = sqrt(d[2] * d[2] + SQUARED_ANGLE_FLOOR) * 0.5
    mean = sin(half) / half
    c, s = mean * cos(q[2] + d[2] * 0.5), mean * sin(q[2] + d[2] * 0.5)
    return [q[0] + c * d[0] - s * d[1], q[1] + s * d[0] + c * d[1], q[2] + d[2]]


def _bracket(x: Numbers, y: Numbers) -> list[Number]:
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], 0.0]


def _difference(x: Numbers, y: Numbers) -> list[Number]:
    """Along an arc, as `_step` goes."""
    w = y[2] - x[2]
    half = sqrt(w * w + SQUARED_ANGLE_FLOOR) * 0.5
    inverse = half / sin(half)
    c, s = inverse * cos(x[2] + w * 0.5), inverse * sin(x[2] + w * 0.5)
    dx, dy = y[0] - x[0], y[1] - x[1]
    return [c * dx + s * dy, c * dy - s * dx, w]


KIND = JointKind(
    "planar",
    nq=3,
    nv=3,
    state=_state,
    frames="aligned",
    axes=("axis",),
    units=("m", "m", "rad"),
    unmoved=(2,),
    coordinates=Coordinates(_rates, _step, _bracket, _difference, integrals={2: 2}),
    free_turn=True,
    cut=Cut(
        rows=lambda m, cut: [along(m, EZ), *parallel(m)],
        gap=lambda m, cut: [along(m, EZ), *axis_gap(m)],
        axes=lambda X, cut: [Twist(v=EX), Twist(v=EY), Twist(w=EZ)],
        position=lambda X, cut: np.stack([X[..., 0, 3], X[..., 1, 3], turn_about_z(X)], axis=-1),
    ),
)
