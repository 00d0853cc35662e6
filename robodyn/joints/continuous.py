"""Continuous: a revolute joint that turns on and on, without limits of its angle."""

from robodyn.joints import revolute
from robodyn.joints.common.kind import JointKind

KIND = JointKind(
    "continuous",
    nq=1,
    nv=1,
    turning=(True,),
    state_at=revolute.state_at,
    frames="axial",
    axes=("axis",),
    unmoved=(2, 3),
    limited=False,
    free_turn=True,
    cut=revolute.CUT,
)
