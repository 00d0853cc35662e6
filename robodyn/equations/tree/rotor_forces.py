"""What rotors exert at a state: on the links that carry them, and on the joints they drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.mechanism.rotors import Armature, CouplingInertia, Rotor
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Wrench


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
