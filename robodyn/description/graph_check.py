"""Checks that links and joints form one mechanism with one root."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from robodyn.description import Coupling, Joint, Loop, Mechanism
from robodyn.description.joint import ends_of
from robodyn.errors import Hints, TopologyError, UnknownNameError

#: What joins a link to the ground.
TO_WORLD = (
    "The ground of a fixed base is its root link; a floating robot is held to the ground by "
    'rd.load(..., constraints=[rd.FrameConstraint(name, kind, (("world", X), (link, X)))])'
)


def graph_problems(mechanism: Mechanism) -> list[TopologyError]:
    """All that keeps links and joints from forming one mechanism with one root."""
    found = unknown_links(mechanism)
    if not found and mechanism.root is None:
        for test in (_check_cycles, find_root):
            try:
                test(mechanism)
            except TopologyError as error:
                found.append(error)
                break
    return found


def unknown_links(mechanism: Mechanism) -> list[TopologyError]:
    """Joints, loops and couplings that name links which do not exist, or one link twice."""
    known = dict.fromkeys(link.name for link in mechanism.links)
    hints = Hints()
    found = []
    items: list[Joint | Loop | Coupling] = [*mechanism.joints, *mechanism.loops]
    for item in (*items, *mechanism.couplings):
        roles = ("parent", "child") if isinstance(item, Joint) else ("predecessor", "successor")
        ends = ends_of(item)
        for role, name in zip(roles, ends, strict=True):
            if name not in known:
                text, meant = hints.message(UnknownNameError("link", name, known))
                if name == "world" and isinstance(item, Loop):
                    text += f". {TO_WORLD}"
                place = mechanism.where(item) | {"suggestion": meant}
                found.append(TopologyError(f"the {role}: {text}", **place))
        if ends[0] == ends[1]:
            message = f"joins the link {ends[0]!r} to itself"
            found.append(TopologyError(message, **mechanism.where(item)))
    return found


def find_root(mechanism: Mechanism) -> str:
    """Name of the base: of the link that is named as such, or the only one that is no child."""
    if mechanism.root is not None:
        return mechanism.root
    children = {joint.child for joint in mechanism.joints}
    roots = [link for link in mechanism.links if link.name not in children]
    if len(roots) > 1:  # a joint marked as cut has a child, too; the tree comes to it another way
        closed = {loop.successor for loop in mechanism.loops}
        roots = [link for link in roots if link.name not in closed] or roots
    if len(roots) == 1:
        return roots[0].name
    if not roots:
        raise TopologyError("the mechanism has no links", file=mechanism.file)
    names = ", ".join(repr(link.name) for link in roots[:10]) + (", ..." if len(roots) > 10 else "")
    connected = _connected(mechanism, roots[0].name)
    loose = next((link for link in roots if link.name not in connected), None)
    advice = (
        "connect the others to it by joints, remove them, or say by root= which one is the base"
        if loose is None
        else f"no joint connects {loose.name!r} with {roots[0].name!r}; connect them, or remove one"
    )
    raise TopologyError(
        f"{len(roots)} root links ({names}): a mechanism has one link that is no joint's child; "
        f"{advice}{_second_parents(mechanism)}",
        **mechanism.where(loose or roots[1]),
    )


def _connected(mechanism: Mechanism, start: str) -> set[str]:
    """Links that joints and loops connect with one."""
    beside: dict[str, list[str]] = {}
    for one, other in map(ends_of, mechanism.movers):
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    found, pending = {start}, [start]
    while pending:
        new = [link for link in beside.get(pending.pop(), ()) if link not in found]
        found.update(new)
        pending += new
    return found


def _second_parents(mechanism: Mechanism) -> str:
    """Links that are children twice, where others are of none: a typing error, perhaps."""
    joints: dict[str, list[str]] = {}
    for joint in mechanism.joints:
        joints.setdefault(joint.child, []).append(repr(joint.name))
    return "".join(
        f"; {link!r} is the child of {' and '.join(names)}: is it the right one of each?"
        for link, names in joints.items()
        if len(names) > 1
    )


def _check_cycles(mechanism: Mechanism) -> None:
    """Raise ``TopologyError`` if one comes back to a link by following joints to children."""
    sorter = TopologicalSorter[str]()
    for joint in mechanism.joints:
        sorter.add(joint.child, joint.parent)
    try:
        sorter.prepare()
    except CycleError as error:
        steps = set(pairwise(error.args[1]))
    else:
        return
    onward: dict[str, Joint] = {}
    for joint in mechanism.joints:
        if ends_of(joint) in steps:
            onward.setdefault(joint.parent, joint)
    cycle = [next(iter(onward))]
    while len(cycle) <= len(onward):
        cycle.append(onward[cycle[-1]].child)
    last = max(onward.values(), key=mechanism.joints.index)
    raise TopologyError(
        f"directed cycle {' -> '.join(cycle)}: exchange parent and child of joint {last.name!r} to "
        "write it as the joint that closes a loop, or say by root= which link is the base",
        **mechanism.where(last),
    )
