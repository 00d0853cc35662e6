"""Checks of a description beyond its syntax: names, mimics, the graph, inertias."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from robodyn.description import Joint, Mechanism
from robodyn.description.graph_check import graph_problems
from robodyn.description.joint import ends_of
from robodyn.description.values import bad_values, why_impossible
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
from robodyn.topology.spanning_tree import SpanningTree, TreeJoint, spanning_tree
from robodyn.urdf.common.reading import Reading
from robodyn.urdf.common.report import tolerable


def massless_motions(mechanism: Mechanism) -> list[InertiaError]:
    """Joints without inertia: no mass in the whole branch, or none about the axis.

    Joints of closed loops are left out, since the loop may hold them, and so are joints that move
    together with another one that has inertia.
    """
    tree = spanning_tree(mechanism)
    follow = {x.name for x in mechanism.joints if x.mimic}
    follow.update(*(x.dependent for x in mechanism.followers))
    together = [{x.name, x.mimic.joint} for x in mechanism.joints if x.mimic]
    together += [{*x.joints} for x in mechanism.followers]
    for coupling in mechanism.couplings:
        ends = [tree.links[end][0] for end in (coupling.predecessor, coupling.successor)]
        together.append({tree.joints[body].joint.name for body in ends if body >= 0})
    moving = {name for name, motor in mechanism.actuators if motor.rotor_inertia > 0.0}
    moving |= {x.name for x in mechanism.joints if x.armature > 0.0}
    lacking = _lacking(tree, moving)
    while more := {name for tied in together if not tied <= lacking for name in tied & lacking}:
        moving |= more
        lacking = _lacking(tree, moving)
    return [
        InertiaError(
            "the joint moves nothing that has mass or inertia in its direction (link "
            f"{joint.child!r} and what hangs on it), so that the mass matrix is "
            "singular: give it an <inertial>, or make the joint fixed",
            **mechanism.where(joint),
            leniently="loaded without forward dynamics",
        )
        for joint in (x.joint for x in tree.joints)
        if joint.name in lacking - follow
    ]


def _lacking(tree: SpanningTree, moving: Collection[str]) -> set[str]:
    """Joints without inertia that no loop holds, where some have that of what moves with them."""
    count = len(tree.joints)
    heavy = [inertia.mass > 0.0 or bool(inertia.I.any()) for inertia in tree.inertias]
    leaf, held = [True] * count, [False] * count
    for cut in tree.cuts:
        for body in (tree.links[end][0] for end in ends_of(cut)):
            if body >= 0:
                held[body] = True
    found = set()
    for i in reversed(range(count)):
        joint = tree.joints[i]
        # Only for a leaf is the inertia about its joint the same in all positions.
        resists = _resists(joint, tree.inertias[i]) if leaf[i] else heavy[i]
        driven = joint.joint.name in moving
        if not (resists or driven or held[i]):
            found.add(joint.joint.name)
        if joint.parent >= 0:
            leaf[joint.parent] = False
            heavy[joint.parent] = heavy[joint.parent] or heavy[i] or driven
            held[joint.parent] = held[joint.parent] or held[i]
    return found


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


def check(reading: Reading) -> None:
    """Check the mechanism of a reading, and add to its findings.

    What is left out leniently is taken out of it. Where links or joints could not be read, it is
    not asked whether they form a mechanism.
    """
    mechanism = reading.mechanism
    assert mechanism is not None
    found = bad_values(mechanism)
    sound = reading.complete and not found
    if not found:
        mechanism, found = _without_bad_mimics(mechanism)
    if sound:
        movers = [joint.name for joint in mechanism.movers]
        motors = [name for name, _ in mechanism.actuators if name not in movers]
        where = f"{mechanism.name!r}, which has a motor there"
        found += [UnknownNameError("joint", name, movers, where) for name in motors]
        problems = graph_problems(mechanism)
        found += problems
        sound = not problems
    impossible, harmless = _bad_inertias(mechanism, sound)
    reading.mechanism = mechanism
    reading.problems += found + impossible
    reading.warnings += harmless
    reading.complete = sound and all(map(tolerable, reading.problems))


def _bad_inertias(
    mechanism: Mechanism, graph: bool
) -> tuple[list[RobodynError], list[UrdfWarning]]:
    """Errors about links with impossible inertias, unless the body they are fixed to is possible.

    The dynamics know only the sum of the links of a body. Public robots have many sensors and
    dummy links with impossible inertias that vanish in it.
    """
    impossible: list[RobodynError] = []
    harmless: list[UrdfWarning] = []
    tree = None
    for link in mechanism.links:
        own = link.inertia
        reason = None if own is None else why_impossible(own.mass, own.matrix)
        if own is None or reason is None:
            continue
        place, sound = mechanism.where(link), False
        if graph and own.mass >= 0.0:
            tree = tree or spanning_tree(mechanism)
            body = (*tree.inertias, tree.base_inertia)[tree.links[link.name][0]]  # -1 is the base
            sound = why_impossible(body.mass, body.about_center()) is None
        if sound:
            harmless.append(UrdfWarning(f"{reason}; the body it is fixed to is sound", **place))
        else:
            impossible.append(InertiaError(reason, **place, leniently="taken as it is"))
    return impossible, harmless


def _without_bad_mimics(mechanism: Mechanism) -> tuple[Mechanism, list[RobodynError]]:
    """The mechanism without mimics that cannot be, and an error about each of these."""
    found: list[RobodynError] = []
    hints = Hints()
    joints = {joint.name: joint for joint in mechanism.joints}
    kept = dict(joints)
    sound: set[str] = set()
    cut = {loop.name for loop in mechanism.loops}
    for joint in mechanism.joints:
        reason = None if joint.mimic is None else _why_no_mimic(joint, joints, cut, sound)
        if reason is None:
            sound.add(joint.name)
            continue
        meant = None
        if isinstance(reason, UnknownNameError):
            text, meant = hints.message(reason)
            reason = f"mimics: {text}"
        place = mechanism.where(joint) | {"suggestion": meant}
        found.append(UrdfError(reason, **place, leniently="moves on its own"))
        kept[joint.name] = dataclasses.replace(joint, mimic=None)
    if not found:
        return mechanism, []
    return dataclasses.replace(mechanism, joints=tuple(kept.values())), found


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
