"""Spherical: any rotation, as a quaternion x, y, z, w; speeds are the body angular velocity."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints.common.coordinates import Coordinates
from robodyn.joints.common.cut import Cut, position
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.quaternion import logarithm, quaternion_rates, relative, turned
from robodyn.joints.common.relative import quaternion_of
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, Rotation, Vec3


def _state(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    X = Placement(Rotation.from_quaternion(q[0], q[1], q[2], q[3]))
    return JointState(X, [Twist(w=e) for e in (EX, EY, EZ)])


KIND = JointKind(
    "spherical",
    nq=4,
    nv=3,
    state=_state,
    unmoved=(3,),
    coordinates=Coordinates(
        rates=quaternion_rates,
        step=lambda q, d: turned(q, Vec3(*d)),
        bracket=lambda x, y: list(Vec3(*x).cross(Vec3(*y))),
        difference=lambda q0, q1: [*logarithm(relative(q0, q1))],
        quaternion=True,
    ),
    words=("ball",),
    cut=Cut(
        rows=lambda m, cut: position(m),
        axes=lambda X, cut: [Twist(w=e) for e in (EX, EY, EZ)],
        position=lambda X, cut: quaternion_of(X),
        vector=True,
    ),
)
