"""Kinds and sizes of the joints of a description, for functions of users."""

from __future__ import annotations

from robodyn.description import Mechanism
from robodyn.joints import continuous, joint_kind
from robodyn.joints import floating as floating_joint
from robodyn.topology.spanning_tree import FLOATING_BASE

__all__ = ["joint_sizes"]


def joint_sizes(mechanism: Mechanism, *, floating: bool) -> dict[str, tuple[str, int, int]]:
    """Kind, nq and nv of joints by name: loops that can be joints, rotors and the base, too."""
    sizes = {joint.name: (joint.kind, joint.nq, joint.nv) for joint in mechanism.joints}
    for loop in mechanism.loops:
        kind = joint_kind(loop.kind)
        sizes |= {loop.name: (kind.name, kind.nq, kind.nv)} if kind.in_tree and kind.nv else {}
    spin, free = continuous.KIND, floating_joint.KIND
    sizes |= {rotor.name: (spin.name, spin.nq, spin.nv) for rotor in mechanism.rotors}
    if floating:
        sizes |= {FLOATING_BASE: (free.name, free.nq, free.nv)}
    return sizes
