"""Inverse dynamics: recursive Newton-Euler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.kinematics import body_motions
from robodyn.equations.tree.rotor_forces import armature_forces, coupling_forces, rotor_reactions
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench


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
