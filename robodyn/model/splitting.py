"""Joints that close loops and need coordinates: a link next to them is cut in two instead.

A cut joint has no coordinate and no force. A joint that moves, with a spring, an armature or a
motor, or one that mimics another or is given as a map, needs both. So it stays in the tree, and the
link beyond it is cut in two halves, which a fixed joint welds together as the closure of the loop.
Each half has half of the inertia, so that the mass matrix of the tree can be inverted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Coupling, Inertia, Joint, Link, Loop, Mechanism, Pose
from robodyn.description.couplings import branches
from robodyn.description.graph_check import find_root, graph_problems
from robodyn.description.joint import shared_fields
from robodyn.description.pose import inverse_pose
from robodyn.errors import TopologyError
from robodyn.force_elements import keeps_coordinate
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints import fixed, joint_kind
from robodyn.topology.spanning_tree import cut_joints


def joints_referred_to(mechanism: Mechanism) -> Iterator[str]:
    """Joints that a motor, a mimic joint, a constraint, a force or a function names, sensors apart.

    Those of functions are the joints that follow, too.
    """
    yield from (name for name, _ in mechanism.actuators)
    yield from (x.mimic.joint for x in mechanism.joints if x.mimic is not None)
    for given in (*mechanism.constraints, *mechanism.followers):
        yield from given.joints
    yield from (force.joint for force in mechanism.forces)


def links_referred_to(mechanism: Mechanism) -> Iterator[str]:
    """Links that something else than a joint, a motor or a sensor is on, once for each.

    Places in the world are on none.
    """
    closing: tuple[Loop | Coupling, ...] = (*mechanism.loops, *mechanism.couplings)
    for ends in closing:
        yield from (ends.predecessor, ends.successor)
    yield from (rotor.link for rotor in mechanism.rotors)
    places = [link for element in mechanism.link_elements for link, _ in element.places]
    places += [link for x in (*mechanism.forces, *mechanism.constraints) for link in x.links]
    yield from (link for link in places if link != WORLD)


def with_split_links(mechanism: Mechanism, *, movable_root: bool) -> Mechanism:
    """With links cut in two where joints that close loops need coordinates of their own.

    The joint keeps its name; the half is called ``"joint_half"``, and the weld ``"joint_weld"``.

    mechanism: Couplings of one joint to one other are mimic joints already.
    movable_root: The base floats.
    Raises TopologyError: If the graph is none, or what closes a loop cannot be a joint.
    """
    if not mechanism.loops and len(mechanism.joints) < len(mechanism.links):
        return mechanism  # there is no loop
    for problem in graph_problems(mechanism):
        raise problem
    needed = _needing_coordinates(mechanism)
    ends = [
        (joint, Pose())
        for joint in cut_joints(mechanism)
        if joint.nv and (joint.name in needed or keeps_coordinate(joint) or joint.map is not None)
    ]
    ends += [
        (joint_of_loop(mechanism, loop), loop.X_successor)
        for loop in mechanism.loops
        if (loop.name in needed and joint_kind(loop.kind).nv) or keeps_coordinate(loop)
    ]
    still = _welded_to(mechanism, find_root(mechanism)) if ends and not movable_root else ()
    for joint, X_child in ends:
        mechanism = _split(mechanism, joint, X_child, still)
    return mechanism


def _needing_coordinates(mechanism: Mechanism) -> set[str]:
    """Joints with motors, and those that others, constraints or forces refer to."""
    needed = {*joints_referred_to(mechanism)}
    needed |= {joint.name for joint in mechanism.joints if joint.mimic is not None}
    for coupling in mechanism.couplings:
        over, under = branches(mechanism, coupling)
        needed |= {*over, *under}
    return needed


def joint_of_loop(mechanism: Mechanism, loop: Loop) -> Joint:
    """A loop as a joint."""
    kind = joint_kind(loop.kind)
    if not (kind.in_tree and kind.nv):
        raise TopologyError(
            f"a {kind} loop has a motor, a spring or an armature, but no coordinate to act along",
            **mechanism.where(loop),
        )
    return Joint(
        parent=loop.predecessor,
        child=loop.successor,
        origin=loop.X_predecessor,
        **shared_fields(loop),
    )


def _split(mechanism: Mechanism, joint: Joint, X_child: Pose, still: Container[str]) -> Mechanism:
    """Cut the child of a joint in two, or its parent if the child is massless or fixed."""
    heavy = [_heaviest(mechanism, link, still) for link in (joint.child, joint.parent)]
    half = _free_name(mechanism, f"{joint.name}_half")
    weld = _free_name(mechanism, f"{joint.name}_weld")
    if heavy[0] is not None or heavy[1] is None:
        old, found, X_LH = joint.child, heavy[0], X_child.matrix
        moved = dataclasses.replace(joint, child=half)
        loop = Loop(weld, fixed.KIND.name, half, old, X_successor=X_child, rejoins=joint.name)
    else:
        old, found, X_LH = joint.parent, heavy[1], np.eye(4)
        mechanism, child = _with_frame(mechanism, joint, X_child)
        moved = dataclasses.replace(joint, parent=half, child=child)
        loop = Loop(weld, fixed.KIND.name, old, half, rejoins=joint.name)
    links, inertia = _halved(mechanism, found, X_LH)
    return dataclasses.replace(
        mechanism,
        links=(*links, Link(half, inertia)),
        joints=_replaced(mechanism.joints, joint, moved),
        loops=(*(x for x in mechanism.loops if x.name != joint.name), loop),
        actuators=tuple(
            (name, _mounted(motor, old, half) if name == joint.name else motor)
            for name, motor in mechanism.actuators
        ),
    )


def _with_frame(mechanism: Mechanism, joint: Joint, X: Pose) -> tuple[Mechanism, str]:
    """Add a link at the frame of a joint on its child, and return the name of that link."""
    if X == Pose():
        return mechanism, joint.child
    name = _free_name(mechanism, f"{joint.name}_frame")
    carried = Joint(_free_name(mechanism, f"{name}_fixed"), fixed.KIND.name, joint.child, name, X)
    return dataclasses.replace(
        mechanism, links=(*mechanism.links, Link(name)), joints=(*mechanism.joints, carried)
    ), name


def _replaced(joints: tuple[Joint, ...], old: Joint, new: Joint) -> tuple[Joint, ...]:
    """Joints with one replaced, or appended if it is not among them."""
    known = any(joint is old for joint in joints)
    return tuple(new if joint is old else joint for joint in joints) + (() if known else (new,))


def _mounted(motor: Actuator, link: str, half: str) -> Actuator:
    """The motor of the joint, mounted on the half that the joint moves."""
    return dataclasses.replace(motor, mounted_on=half) if motor.mounted_on == link else motor


def _welded_to(mechanism: Mechanism, link: str) -> dict[str, FloatArray]:
    """Links that fixed joints tie to one, this included, with their poses in it (4, 4)."""
    found = {link: np.eye(4)}
    waiting = [link]
    while waiting:
        at = waiting.pop()
        for joint in mechanism.joints:
            if joint.nv == 0 and joint.map is None and at in (joint.parent, joint.child):
                X, other = joint.origin.matrix, joint.child
                if at == joint.child:
                    X, other = inverse_pose(X), joint.parent
                if other not in found:
                    found[other] = found[at] @ X
                    waiting.append(other)
    return found


def _heaviest(
    mechanism: Mechanism, link: str, still: Container[str]
) -> tuple[str, FloatArray] | None:
    """The heaviest of the links welded to one, and its pose; ``None`` if they are fixed."""
    if link in still:
        return None
    tied = _welded_to(mechanism, link)
    masses = {x.name: x.inertia.mass for x in mechanism.links if x.inertia is not None}
    heavy = [name for name in tied if masses.get(name, 0.0) > 0.0]
    if not heavy:
        return None
    name = max(heavy, key=lambda x: masses[x])
    return name, tied[name]


def _halved(
    mechanism: Mechanism, found: tuple[str, FloatArray] | None, X_LH: FloatArray
) -> tuple[tuple[Link, ...], Inertia | None]:
    """Links with half of the inertia of one of them, and the other half of it.

    found: That link, and its pose in the link that is cut.
    X_LH (4, 4): Frame of the half in the link that is cut.
    """
    links = {link.name: link for link in mechanism.links}
    if found is None:
        return mechanism.links, None
    name, X = found
    own = links[name].inertia
    assert own is not None
    moments = [0.5 * x for x in (own.ixx, own.ixy, own.ixz, own.iyy, own.iyz, own.izz)]
    links[name] = dataclasses.replace(
        links[name], inertia=Inertia(0.5 * own.mass, own.origin, *moments)
    )
    origin = Pose.from_matrix(inverse_pose(X_LH) @ X @ own.origin.matrix)
    return tuple(links.values()), Inertia(0.5 * own.mass, origin, *moments)


def _free_name(mechanism: Mechanism, name: str) -> str:
    """The name, lengthened until nothing else is called so."""
    taken = {link.name for link in mechanism.links} | {x.name for x in mechanism.movers}
    while name in taken:
        name += "_"
    return name
