"""Helical: an angle about an axis; the child advances along it by pitch times angle."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common import jet
from robodyn.joints.common.cut import (
    Cut,
    CutGeometry,
    RelativeMotion,
    along,
    parallel,
    position_along,
    product,
)
from robodyn.joints.common.evaluate import turned
from robodyn.joints.common.gap import axis_gap, unfolded
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState, Parameter
from robodyn.joints.common.relative import turn_about_z, way_along_z
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ


def _state(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """Turned about z, which advances."""
    pitch = joint.constants["pitch"]
    return JointState(
        Placement(turned(joint.turn(q[0])), EZ * (q[0] * pitch)), [Twist(EZ * pitch, EZ)]
    )


def _rows(m: RelativeMotion, cut: CutGeometry) -> list[Row]:
    """Z advances with the angle: ``c sin(z / c - angle) = 0`` has the slope of ``z - c angle``."""
    c, z = cut.constants["pitch"], along(m, EZ)
    if not c:
        return [along(m, EX), along(m, EY), z, *parallel(m)]
    cosine, sine = m.X.R.matrix.xx, m.X.R.matrix.yx
    residual = (sin(z.residual * (1.0 / c)) * cosine - cos(z.residual * (1.0 / c)) * sine) * c
    spins = {k: w.z for k, (_, w) in m.columns.items()}
    slope = {k: x - c * spins[k] for k, x in z.jacobian.items()}
    row = Row(residual, slope, z.bias - c * m.dw.z)
    return [along(m, EX), along(m, EY), *parallel(m), row]


def _gap(m: RelativeMotion, cut: CutGeometry) -> list[Row]:
    """The same; the angle is compared with ``z / c`` by sine and cosine of their difference."""
    c = cut.constants["pitch"]
    if not c:
        return [along(m, EX), along(m, EY), along(m, EZ), *axis_gap(m)]
    way = position_along(m, EZ) * (1.0 / c)
    cosine, sine = product(m, EX, EX), product(m, EY, EX)
    (turn,) = unfolded(
        [jet.sin(way) * cosine - jet.cos(way) * sine], jet.cos(way) * cosine + jet.sin(way) * sine
    )
    return [along(m, EX), along(m, EY), *axis_gap(m), turn.scaled(c)]


def _position(X: FloatArray, cut: CutGeometry) -> FloatArray:
    """The angle, with the whole turns that follow from the displacement along the axis."""
    angle, c = turn_about_z(X), cut.constants["pitch"]
    if c:
        angle = angle + math.tau * np.round((way_along_z(X) / c - angle) / math.tau)
    return np.asarray(angle[..., None])


#: Drake and SDF give the advance a turn.
PITCH = Parameter(
    "pitch",
    "metres a radian",
    spellings=(("drake:screw_thread_pitch", math.tau), ("screw_thread_pitch", math.tau)),
)

KIND = JointKind(
    "helical",
    nq=1,
    nv=1,
    state=_state,
    frames="axial",
    axes=("axis",),
    parameters=(PITCH,),
    unmoved=(2,),
    words=("screw",),
    cut=Cut(
        rows=_rows,
        axes=lambda X, cut: [Twist(EZ * cut.constants["pitch"], EZ)],
        gap=_gap,
        position=_position,
    ),
)
