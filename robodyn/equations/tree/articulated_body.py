"""Hybrid dynamics by articulated bodies, forward dynamics included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import armature_forces, body_motions, rotor_reactions
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import ArticulatedInertia, Twist, Wrench

#: Free speeds on the way to the base, on average, beyond which this takes the fewest operations.
DEPTH = 8.0


def hybrid_dynamics(
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    wrenches: Mapping[int, Wrench],
) -> tuple[list[Number], list[Number]]:
    """Accelerations and forces of all speeds; O(n) [Featherstone, tables 7.1, 9.2].

    The motion with the controlled accelerations, and none else, is computed first; everything is
    relative to it, so that no velocity enters the articulated sweep and controlled joints stand
    still in it. Joints with several freedoms are freed one freedom after the other. For mechanisms
    whose bodies are coupled to their neighbours only (`MechanismModel.chained`).

    a, tau: Accelerations are read where controlled, forces elsewhere.
    controlled: Indices of controlled speeds: with none, this is forward dynamics.
    """
    model = state.model
    given: list[Number] = [a[k] if k in controlled else 0.0 for k in range(model.nv)]
    motion = body_motions(state, given)
    I: dict[int, ArticulatedInertia] = {}
    p: dict[int, Wrench] = {}
    for body in model:
        I[body.index] = ArticulatedInertia.of(body.lumped)
        p[body.index] = body.lumped.wrench(motion[body.index])
        if body.index in wrenches:
            p[body.index] -= wrenches[body.index]
    forces = [tau[k] for k in range(model.nv)]
    turning = rotor_reactions(model.lumped_rotors, state, given, motion, p)
    still = [0.0] * model.nv
    for k, own in armature_forces(model.lumped_armature, state, still).items():
        turning[k] = turning.get(k, 0.0) + own
    G = _couplings(state)
    armature = {x.body: x.inertia for x in model.lumped_armature}

    freed: dict[int, list[tuple[int, Twist, Wrench, Number, Number]]] = {}
    carried: dict[int, tuple[ArticulatedInertia, Wrench]] = {}
    for body in reversed(model):
        freed[body.index] = []
        inertia, force, joint = I[body.index], p[body.index], state[body.index]
        for k, s in reversed(joint.columns):
            if k in controlled:
                continue
            F, rotor = inertia * s, armature.get(body.index, 0.0)
            inverse = 1.0 / (s.dot(F) + rotor)
            u = tau[k] - s.dot(force) - turning.get(k, 0.0)
            F = F + G[k] if k in G else F
            freed[body.index].append((k, s, F, inverse, u))
            inertia = inertia.freed(s, F, inverse, wholly=not rotor)
            force = force + F * (u * inverse)
        carried[body.index] = inertia, force
        if body.parent != BASE:
            I[body.parent] += inertia.in_parent(joint.X)
            p[body.parent] += joint.X.wrench_out(force)

    beyond = {BASE: Twist()}
    for body in model:
        joint = state[body.index]
        A = joint.X.twist_in(beyond[body.parent])
        inertia, force = carried[body.index]
        for k, s in joint.columns:
            if k in controlled:
                felt = inertia * s + G.get(k, Wrench())
                forces[k] = s.dot(force) + A.dot(felt) + turning.get(k, 0.0)
                forces[k] += given[k] * armature.get(body.index, 0.0)
        for k, s, F, inverse, u in reversed(freed[body.index]):
            given[k] = (u - A.dot(F)) * inverse
            A = A + s * given[k]
        beyond[body.index] = A
    return given, forces


def preferred(model: MechanismModel, controlled: frozenset[int]) -> bool:
    """Whether the chains are so long that no other algorithm takes fewer operations.

    The mass matrix has an element, and its factorisation a row of them, for each free speed and
    each free one before it. Trees of mean depth from 2 to 8 decide by geometry, and have to be
    tried; deeper ones never did better by the mass matrix.
    """
    before, pairs = {BASE: 0}, 0
    for body in model:
        count = before[body.parent]
        for speed in body.speeds:
            if speed.index not in controlled:
                pairs, count = pairs + count, count + 1
        before[body.index] = count
    return pairs > DEPTH * model.nv


def _couplings(state: State) -> dict[int, Wrench]:
    """Moment on the parent a unit acceleration of each joint's rotor, in the child's axes.

    The joint hands it on with all that it exerts on the parent. A rotor on the base moves nothing.
    """
    G: dict[int, Wrench] = {}
    for rotor in state.model.lumped_rotors:
        if rotor.carrier != BASE:
            joint = state[rotor.body]
            ((k, *_),) = joint.ratios
            G[k] = G.get(k, Wrench()) + Wrench(n=joint.X.R.inverse_times(rotor.g))
    return G
