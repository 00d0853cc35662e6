"""Revolute: an angle about an axis."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints.common.cut import Cut, parallel, position
from robodyn.joints.common.evaluate import turned
from robodyn.joints.common.gap import axis_gap
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.relative import turn_about_z
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EZ


def state_at(joint: JointGeometry, at: Sequence[Planar], v: Sequence[Number]) -> JointState:
    """Turned about z."""
    return JointState(Placement(turned(at[0])), [Twist(w=EZ)])


CUT = Cut(
    rows=lambda m, cut: [*position(m), *parallel(m)],
    gap=lambda m, cut: [*position(m), *axis_gap(m)],
    axes=lambda X, cut: [Twist(w=EZ)],
    position=lambda X, cut: turn_about_z(X)[..., None],
)

KIND = JointKind(
    "revolute",
    nq=1,
    nv=1,
    turning=(True,),
    state_at=state_at,
    frames="axial",
    axes=("axis",),
    unmoved=(2, 3),
    free_turn=True,
    cut=CUT,
)
