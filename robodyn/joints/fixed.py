"""Fixed: no motion. Such a joint is there because the wrench in it is wanted, or closes a loop."""

from robodyn.joints.common.cut import Cut, aligned, position
from robodyn.joints.common.gap import rotation_gap
from robodyn.joints.common.kind import JointKind, JointState
from robodyn.symbolic.spatial import Placement

KIND = JointKind(
    "fixed",
    nq=0,
    nv=0,
    state=lambda joint, q, v: JointState(Placement(), []),
    unmoved=(0, 1, 2, 3),
    words=("weld",),
    cut=Cut(
        rows=lambda m, cut: [*position(m), *aligned(m)],
        gap=lambda m, cut: [*position(m), *rotation_gap(m)],
    ),
)
