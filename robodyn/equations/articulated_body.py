"""Forward dynamics: articulated bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.kinematics import body_motions
from robodyn.equations.mechanism import BASE, MechanismModel
from robodyn.equations.state import BaseState, State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import ArticulatedInertia, Twist, Wrench

__all__ = ["forward_dynamics"]


def forward_dynamics(
    model: MechanismModel,
    state: State,
    tau: Sequence[Number],
    base: BaseState,
    wrenches: Mapping[int, Wrench],
) -> list[Number]:
    """Accelerations under generalised forces ``tau``; O(n) [Featherstone, table 7.1].

    The motion at ``a = 0`` is computed first and everything else is relative to it, so that the
    articulated sweep is linear: no velocity enters it. Joints with several freedoms are freed one
    freedom after the other. For mechanisms whose joints do not share speeds.
    """
    motion = body_motions(model, state, [0.0] * model.nv, base)
    I: dict[int, ArticulatedInertia] = {}
    p: dict[int, Wrench] = {}
    for body in model:
        I[body.index] = ArticulatedInertia.of(body.lumped)
        p[body.index] = body.lumped.wrench(motion[body.index])
        if body.index in wrenches:
            p[body.index] -= wrenches[body.index]

    freed: dict[int, list[tuple[int, Twist, Wrench, Number, Number]]] = {}
    for body in reversed(model):
        freed[body.index] = []
        inertia, force, joint = I[body.index], p[body.index], state[body.index]
        for k, s in reversed(joint.columns):
            F, rotor = inertia * s, model.armature[k]
            inverse = 1.0 / (s.dot(F) + rotor)
            u = tau[k] - s.dot(force)
            freed[body.index].append((k, s, F, inverse, u))
            inertia = inertia.freed(s, F, inverse, wholly=not rotor)
            force = force + F * (u * inverse)
        if body.parent != BASE:
            I[body.parent] += inertia.in_parent(joint.X)
            p[body.parent] += joint.X.wrench_out(force)

    a: list[Number] = [0.0] * model.nv
    beyond = {BASE: Twist()}  # acceleration beyond that of a = 0
    for body in model:
        A = state[body.index].X.twist_in(beyond[body.parent])
        for k, s, F, inverse, u in reversed(freed[body.index]):
            a[k] = (u - A.dot(F)) * inverse
            A = A + s * a[k]
        beyond[body.index] = A
    return a
