"""Checks of a description beyond its syntax: names, mimics, the graph, inertias."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from robodyn.description import Joint, Mechanism
from robodyn.description.graph_check import graph_problems
from robodyn.description.loop import ends_of
from robodyn.description.possible import why_impossible
from robodyn.description.values import bad_values
from robodyn.errors import (
    Hints,
    InertiaError,
    RobodynError,
    UnknownNameError,
    UrdfError,
    UrdfWarning,
)
from robodyn.joints import joint_kind
from robodyn.joints.common.described import described_subspace
from robodyn.topology.body_inertia import BodyInertia
from robodyn.topology.spanning_tree import TreeJoint, spanning_tree


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
        for body in (tree.links[end][0] for end in ends_of(cut)):
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


@dataclass(frozen=True)
class Checked:
    """A mechanism, and the errors and warnings about it.

    mechanism: Without what is left out leniently.
    errors: What makes it unusable.
    warnings: What is only worth a warning.
    sound: Links and joints form one mechanism, so that its motions can be judged.
    """

    mechanism: Mechanism
    errors: list[RobodynError]
    warnings: list[UrdfWarning]
    sound: bool


def check(mechanism: Mechanism, *, graph: bool = True) -> Checked:
    """Check a mechanism.

    Without ``graph``, which is pointless where links or joints could not be read, it is not asked
    whether they form a mechanism.
    """
    found = bad_values(mechanism)
    sound = graph and not found
    if not found:
        mimics = _bad_mimics(mechanism)
        mechanism = _without_mimics(mechanism, mimics.keys())
        found += mimics.values()
    if sound:
        problems = graph_problems(mechanism)
        found += problems
        sound = not problems
    impossible, harmless = _bad_inertias(mechanism, sound)
    return Checked(mechanism, found + impossible, harmless, sound)


def _bad_inertias(
    mechanism: Mechanism, graph: bool
) -> tuple[list[RobodynError], list[UrdfWarning]]:
    """Errors about links with impossible inertias, unless the body they are fixed to is possible.

    The dynamics know only the sum of the links of a body. Public robots have many sensors and
    dummy links with impossible inertias that vanish in it.
    """
    reasons: dict[str, str] = {}
    hopeless = set()
    sound: set[str] = set()
    for link in mechanism.links:
        if link.inertia is not None:
            reason = why_impossible(link.inertia.mass, link.inertia.matrix)
            if reason:
                reasons[link.name] = reason
                if not link.inertia.mass >= 0.0:
                    hopeless.add(link.name)
    if reasons and graph:
        tree = spanning_tree(mechanism)
        bodies = (*tree.inertias, tree.base_inertia)  # -1 is the base
        for name in reasons.keys() - hopeless:
            body = bodies[tree.links[name][0]]
            if why_impossible(body.mass, body.about_center()) is None:
                sound.add(name)
    as_it_is = "taken as it is"
    impossible = [link for link in mechanism.links if link.name in reasons]
    return [
        InertiaError(reasons[link.name], **mechanism.where(link), leniently=as_it_is)
        for link in impossible
        if link.name not in sound
    ], [
        UrdfWarning(
            reasons[link.name] + "; the body it is fixed to is sound", **mechanism.where(link)
        )
        for link in impossible
        if link.name in sound
    ]


def _without_mimics(mechanism: Mechanism, names: Collection[str]) -> Mechanism:
    """The mechanism without the mimics of some joints."""
    if not names:
        return mechanism
    joints = (
        dataclasses.replace(joint, mimic=None) if joint.name in names else joint
        for joint in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=tuple(joints))


def _bad_mimics(mechanism: Mechanism) -> dict[str, RobodynError]:
    """Errors about mimics, by the name of the joint."""
    found: dict[str, RobodynError] = {}
    hints = Hints()
    joints = {joint.name: joint for joint in mechanism.joints}
    sound: set[str] = set()
    cut = {loop.name for loop in mechanism.loops}
    for joint in mechanism.joints:
        if joint.mimic is None:
            continue
        reason = _why_no_mimic(joint, joints, cut, sound)
        if reason is None:
            sound.add(joint.name)
            continue
        meant = None
        if isinstance(reason, UnknownNameError):
            text, meant = hints.message(reason)
            reason = f"mimics: {text}"
        place = mechanism.where(joint) | {"suggestion": meant}
        found[joint.name] = UrdfError(reason, **place, leniently="moves on its own")
    return found


def _why_no_mimic(
    joint: Joint, joints: dict[str, Joint], cut: set[str], sound: set[str]
) -> str | UnknownNameError | None:
    """Reason why a joint cannot mimic another; ``sound`` are joints known to be correct."""
    if joint.nv != 1:
        return f"a {joint.kind} joint has no single coordinate that could mimic another"
    seen = {joint.name}
    while joint.mimic is not None:
        master = joints.get(joint.mimic.joint)
        if master is None and joint.mimic.joint in cut:
            return f"mimics {joint.mimic.joint!r}, which closes a loop and so has no coordinate"
        if master is None:
            return UnknownNameError("joint", joint.mimic.joint, joints)
        if master.nv != 1:
            return f"mimics {master.name!r}, a {master.kind} joint without a single coordinate"
        if master.name in seen:
            return f"mimics itself by way of {master.name!r}"
        if master.name in sound:
            return None
        seen.add(master.name)
        joint = master
    return None
