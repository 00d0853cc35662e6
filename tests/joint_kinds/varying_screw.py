"""A screw whose pitch varies along the way: the child advances by pitch (q + depth sin q)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.cut import Cut, CutGeometry, RelativeMotion, along, parallel
from robodyn.joints.common.evaluate import turned
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState, Parameter
from robodyn.joints.common.relative import turn_about_z, way_along_z
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ


def _state(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    pitch, depth = joint.constants["pitch"], joint.constants["depth"]
    X = Placement(turned(joint.turn(q[0])), EZ * (pitch * (q[0] + depth * sin(q[0]))))
    slope = pitch * (1.0 + depth * cos(q[0]))
    bend = -pitch * depth * sin(q[0])
    return JointState(X, [Twist(EZ * slope, EZ)], [Twist(v=EZ * (bend * v[0]))])


def _rows(m: RelativeMotion, cut: CutGeometry) -> list[Row]:
    """``c sin(z / c - depth sin(angle) - angle)`` is zero."""
    c, depth = cut.constants["pitch"], cut.constants["depth"]
    z, cosine, sine = along(m, EZ), m.X.R.matrix.xx, m.X.R.matrix.yx
    angle = z.residual * (1.0 / c) - depth * sine
    slope = c * (1.0 + depth * cosine)
    row = Row(
        (sin(angle) * cosine - cos(angle) * sine) * c,
        {k: x - slope * m.columns[k][1].z for k, x in z.jacobian.items()},
        z.bias - slope * m.dw.z + c * depth * sine * m.w.z * m.w.z,
    )
    return [along(m, EX), along(m, EY), *parallel(m), row]


def _axes(X: Placement, cut: CutGeometry) -> list[Twist]:
    slope = cut.constants["pitch"] * (1.0 + cut.constants["depth"] * X.R.matrix.xx)
    return [Twist(EZ * slope, EZ)]


def _position(X: FloatArray, cut: CutGeometry) -> FloatArray:
    """The angle, with the whole turns that the way along the axis tells."""
    c, depth = cut.constants["pitch"], cut.constants["depth"]
    angle = turn_about_z(X)
    rest = way_along_z(X) / c - depth * np.sin(angle) - angle
    return np.asarray((angle + math.tau * np.round(rest / math.tau))[..., None])


KIND = JointKind(
    "varying_screw",
    nq=1,
    nv=1,
    state=_state,
    frames="axial",
    axes=("axis",),
    parameters=(Parameter("pitch", "metres a radian"), Parameter("depth", "parts of the pitch")),
    unmoved=(2,),
    cut=Cut(_rows, _axes, position=_position),
)
