"""Prismatic: a displacement along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints.common.cut import Cut, aligned, along
from robodyn.joints.common.evaluate import slid
from robodyn.joints.common.gap import rotation_gap
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.relative import way_along_z
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ


def _state_at(joint: JointGeometry, at: Sequence[Planar], v: Sequence[Number]) -> JointState:
    """Moved along z."""
    return JointState(Placement(p=slid(at[0])), [Twist(v=EZ)])


KIND = JointKind(
    "prismatic",
    nq=1,
    nv=1,
    turning=(False,),
    state_at=_state_at,
    frames="axial",
    axes=("axis",),
    units=("m",),
    unmoved=(0, 1, 2),
    cut=Cut(
        rows=lambda m, cut: [along(m, EX), along(m, EY), *aligned(m)],
        gap=lambda m, cut: [along(m, EX), along(m, EY), *rotation_gap(m)],
        axes=lambda X, cut: [Twist(v=EZ)],
        position=lambda X, cut: way_along_z(X)[..., None],
    ),
)
