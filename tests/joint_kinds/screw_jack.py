"""A screw by its displacement: the child turns by q / pitch as it advances by q."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints import helical
from robodyn.joints.common.cut import Cut
from robodyn.joints.common.evaluate import turned
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.relative import way_along_z
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EZ


def _state(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    turns = 1.0 / joint.constants["pitch"]
    X = Placement(turned(joint.turn(q[0] * turns)), EZ * q[0])
    return JointState(X, [Twist(EZ, EZ * turns)])


KIND = JointKind(
    "screw_jack",
    nq=1,
    nv=1,
    state=_state,
    frames="axial",
    axes=("axis",),
    parameters=(helical.PITCH,),
    units=("m",),
    unmoved=(2,),
    words=("jack",),
    cut=Cut(
        helical.KIND.cut.rows,
        lambda X, cut: [Twist(EZ, EZ * (1.0 / cut.constants["pitch"]))],
        position=lambda X, cut: way_along_z(X)[..., None],
    ),
)
