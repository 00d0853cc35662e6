"""Joints with undetermined wrenches, which depend on where the force of a constraint acts.

A `robodyn.Constraint` between several joints, a function by which joints follow others, and a
coupling over more than two joints relate coordinates. They do not define on which bodies the
constraint force acts: a cart may be braked by the ground under its wheels or by a gear at its axle.
Motions are the same, but the wrenches in the joints between these bodies and the base are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robodyn.description import Mechanism
from robodyn.description.couplings import branches, with_couplings


def unplaced_wrenches(mechanism: Mechanism, cuts: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Constraints by joint, for the joints whose wrench is undetermined.

    Those are the joints that a constraint names, and all between them and the base. A constraint on
    one joint alone acts in that joint, like a motor.

    cuts: Joints that close loops.
    """
    cuts = set(cuts)
    above = {joint.child: joint for joint in mechanism.joints if joint.name not in cuts}
    found: dict[str, dict[str, None]] = {}
    for constraint, joints in _over_several_joints(mechanism).items():
        for name in _with_followers(mechanism, joints):
            found.setdefault(name, {})[constraint] = None
            for link in _sides(mechanism, name):
                while link in above:
                    found.setdefault(above[link].name, {})[constraint] = None
                    link = above[link].parent
    names = (mover.name for mover in mechanism.movers if mover.name in found)
    return {name: tuple(found[name]) for name in names}


def _over_several_joints(mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
    """Joints by name of the constraint, function or coupling that ties several of them."""
    ties = {given.name: given.joints for given in mechanism.constraints}
    ties |= {given.name: given.joints for given in mechanism.followers}
    for coupling in with_couplings(mechanism).couplings:
        over, under = branches(mechanism, coupling)
        ties[coupling.name] = (*over, *under)
    return {name: joints for name, joints in ties.items() if len(joints) > 1}


def _with_followers(mechanism: Mechanism, joints: Iterable[str]) -> set[str]:
    """The joints, and those that follow one of them."""
    names = set(joints)
    while more := {
        joint.name
        for joint in mechanism.joints
        if joint.mimic and joint.mimic.joint in names and joint.name not in names
    }:
        names |= more
    return names


def _sides(mechanism: Mechanism, name: str) -> tuple[str, ...]:
    """The links that a joint, or a loop, connects."""
    for joint in mechanism.joints:
        if joint.name == name:
            return joint.parent, joint.child
    return tuple(
        link
        for loop in mechanism.loops
        if loop.name == name
        for link in (loop.predecessor, loop.successor)
    )
