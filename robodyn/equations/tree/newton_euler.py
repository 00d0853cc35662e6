"""Inverse dynamics by recursive Newton-Euler: motion of bodies outwards, forces inwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.rotors import Armature, CouplingInertia, Rotor
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Placement, Twist, Wrench


def placements(state: State) -> dict[int, Placement]:
    """``X_WB`` of the base and of every body."""
    X_WB = {BASE: state.base.X_WB}
    for body in state.model:
        X_WB[body.index] = X_WB[body.parent] @ state[body.index].X
    return X_WB


def twists(state: State) -> dict[int, Twist]:
    """Twist of the base and of every body, in its own axes."""
    V = {BASE: state.base.V}
    for body in state.model:
        joint = state[body.index]
        V[body.index] = joint.X.twist_in(V[body.parent]) + joint.V
    return V


def accelerations(state: State, a: Sequence[Number]) -> dict[int, Twist]:
    """Derivative of each body's twist, in its own axes."""
    V = twists(state)
    A = {BASE: state.base.A}
    for body in state.model:
        joint = state[body.index]
        A[body.index] = (
            joint.X.twist_in(A[body.parent])
            + joint.times(a)
            + joint.c
            + V[body.index].cross(joint.V)
        )
    return A


def body_motions(state: State, a: Sequence[Number]) -> dict[int, BodyMotion]:
    """Angular motion of each body and the acceleration of its origin.

    With ``w`` of the parent seen from the body, ``V`` the twist of the joint and ``D = S a + dS v``
    its rate::

        w_B  = w + V.w
        dw_B = dw + D.w + w x V.w
        a_B  = a_P + U_P p + D.v + (2 w + V.w) x V.v

    A body's own linear velocity does not appear, so it is never computed.
    """
    motion = {BASE: state.base.motion}
    for body in state.model:
        joint, parent = state[body.index], motion[body.parent]
        R, V = joint.X.R, joint.V
        D = joint.times(a) + joint.c
        w = R.inverse_times(parent.w)
        motion[body.index] = BodyMotion(
            w + V.w,
            R.inverse_times(parent.dw) + D.w + w.cross(V.w),
            R.inverse_times(parent.a + parent.U * joint.X.p) + D.v + (w + w + V.w).cross(V.v),
        )
    return motion


def rotor_reactions(
    rotors: Sequence[Rotor],
    state: State,
    a: Sequence[Number],
    motion: Mapping[int, BodyMotion],
    F: dict[int, Wrench],
) -> dict[int, Number]:
    """Add to ``F`` what the carriers feel; returns the forces ``g . dw`` by index of speed."""
    forces: dict[int, Number] = {}
    for rotor in rotors:
        g, i, joint = rotor.g, rotor.carrier, state[rotor.body]
        moment = g * joint.acceleration(a)[0] + motion[i].w.cross(g) * joint.v[0]
        F[i] = F.get(i, Wrench()) + Wrench(n=moment)
        force = g.dot(motion[i].dw)
        for k, _, ratio in joint.ratios:
            forces[k] = forces.get(k, 0.0) + force * ratio
    return forces


def armature_forces(
    armatures: Sequence[Armature], state: State, a: Sequence[Number]
) -> dict[int, Number]:
    """Forces that armatures take, by index of speed."""
    forces: dict[int, Number] = {}
    for armature in armatures:
        joint = state[armature.body]
        turned = joint.turned(joint.v)
        felt = [
            (x + y) * armature.inertia for x, y in zip(joint.acceleration(a), turned, strict=True)
        ]
        for k, freedom, ratio in joint.ratios:
            forces[k] = forces.get(k, 0.0) + felt[freedom] * ratio
    return forces


def coupling_forces(
    couplings: Sequence[CouplingInertia], state: State, a: Sequence[Number]
) -> dict[int, Number]:
    """Forces that rotors take which several joints turn together, by index of speed."""
    forces: dict[int, Number] = {}
    for x in couplings:
        for one, other in ((x.first, x.second), (x.second, x.first)):
            felt = state[other].acceleration(a)[0] * x.inertia
            for k, _, ratio in state[one].ratios:
                forces[k] = forces.get(k, 0.0) + felt * ratio
    return forces


def rotor_momenta(rotors: Sequence[Rotor], state: State) -> list[tuple[int, Wrench]]:
    """Momentum that each rotor's spin adds to its carrier."""
    return [(rotor.carrier, Wrench(n=rotor.g * state[rotor.body].v[0])) for rotor in rotors]


def inverse_dynamics(
    state: State, a: Sequence[Number], wrenches: Mapping[int, Wrench]
) -> list[Number]:
    """Generalised forces that produce accelerations ``a``; O(n) [Featherstone, table 5.1].

    wrenches: Applied from outside, about the body's origin in its axes.
    """
    model = state.model
    motion = body_motions(state, a)
    F: dict[int, Wrench] = {}
    for body in model:
        F[body.index] = body.lumped.wrench(motion[body.index])
        if body.index in wrenches:
            F[body.index] -= wrenches[body.index]
    tau: list[Number] = [0.0] * model.nv
    for forces in (
        armature_forces(model.lumped_armature, state, a),
        coupling_forces(model.coupling_inertias, state, a),
        rotor_reactions(model.lumped_rotors, state, a, motion, F),
    ):
        for k, force in forces.items():
            tau[k] += force
    for body in reversed(model):
        joint = state[body.index]
        for k, force in joint.forces(F[body.index]):
            tau[k] += force
        if body.parent != BASE:
            F[body.parent] += joint.X.wrench_out(F[body.index])
    return tau
