"""Cylindrical: a displacement along an axis, and an angle about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.joints.common.cut import Cut, along, parallel
from robodyn.joints.common.evaluate import slid, turned
from robodyn.joints.common.gap import axis_gap
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.relative import turn_about_z, way_along_z
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ


def _state_at(joint: JointGeometry, at: Sequence[Planar], v: Sequence[Number]) -> JointState:
    """Moved along z and turned about it."""
    return JointState(Placement(turned(at[1]), slid(at[0])), [Twist(v=EZ), Twist(w=EZ)])


KIND = JointKind(
    "cylindrical",
    nq=2,
    nv=2,
    turning=(False, True),
    state_at=_state_at,
    frames="axial",
    axes=("axis",),
    units=("m", "rad"),
    unmoved=(2,),
    free_turn=True,
    cut=Cut(
        rows=lambda m, cut: [along(m, EX), along(m, EY), *parallel(m)],
        gap=lambda m, cut: [along(m, EX), along(m, EY), *axis_gap(m)],
        axes=lambda X, cut: [Twist(v=EZ), Twist(w=EZ)],
        position=lambda X, cut: np.stack([way_along_z(X), turn_about_z(X)], axis=-1),
    ),
)
