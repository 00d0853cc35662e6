"""Joints that move no mass, so that the mass matrix cannot be inverted."""

from __future__ import annotations

import numpy as np

from robodyn.description import Joint, Mechanism
from robodyn.errors import InertiaError
from robodyn.joints import joint_kind
from robodyn.joints.common.described import described_subspace
from robodyn.topology.body_inertia import BodyInertia
from robodyn.topology.spanning_tree import TreeJoint, spanning_tree

__all__ = ["massless_motions"]


def massless_motions(mechanism: Mechanism) -> list[InertiaError]:
    """Joints without inertia: no mass in the whole branch, or none about the axis.

    Joints of closed loops are left out, since the loop may hold them.
    """
    tree = spanning_tree(mechanism)
    motors = {name for name, motor in mechanism.actuators if motor.rotor_inertia > 0.0}
    count = len(tree.joints)
    heavy = [inertia.mass > 0.0 or bool(inertia.I.any()) for inertia in tree.inertias]
    leaf, held = [True] * count, [False] * count
    for cut in tree.cuts:
        ends = (
            (cut.parent, cut.child) if isinstance(cut, Joint) else (cut.predecessor, cut.successor)
        )
        for body in (tree.links[end][0] for end in ends):
            if body >= 0:
                held[body] = True
    found = []
    for i in reversed(range(count)):
        joint = tree.joints[i]
        name = joint.joint.name
        # Only for a leaf is the inertia about its joint the same in all positions.
        resists = _resists(joint, tree.inertias[i]) if leaf[i] else heavy[i]
        driven = name in motors or joint.joint.armature > 0.0 or joint.mimic is not None
        if not (resists or driven or held[i]):
            found.append(
                InertiaError(
                    "the joint moves nothing that has mass or inertia in its direction (link "
                    f"{joint.joint.child!r} and what hangs on it), so that the mass matrix is "
                    "singular: give it an <inertial>, or make the joint fixed",
                    **mechanism.where(joint.joint),
                    leniently="loaded without forward dynamics",
                )
            )
        if joint.parent >= 0:
            leaf[joint.parent] = False
            heavy[joint.parent] = heavy[joint.parent] or heavy[i] or driven
            held[joint.parent] = held[joint.parent] or held[i]
    return found[::-1]


def _resists(joint: TreeJoint, inertia: BodyInertia) -> bool:
    """Whether every motion of a leaf's joint, at zero position, moves some of its mass."""
    kind = joint_kind(joint.joint.kind)
    at_zero = [0.0] * joint.joint.nq
    if kind.coordinates.quaternion:
        at_zero[-1] = 1.0
    S = described_subspace(kind, joint.joint, at_zero)
    # With a reversed joint the body turns about the same axis, through its own origin.
    x, y, z = inertia.h
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    spatial = np.block([[inertia.mass * np.eye(3), -hat], [hat, inertia.I]])
    size = max(inertia.mass, float(np.trace(inertia.I)))
    eigenvalues = np.linalg.eigvalsh(S.T @ spatial @ S)
    return bool(size > 0.0 and eigenvalues[0] > 1e-12 * eigenvalues[-1] > 0.0)
