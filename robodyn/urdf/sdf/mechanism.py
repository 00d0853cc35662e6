"""Conversion of an SDF model to a mechanism: the joints of a spanning tree, and the loops."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.description import Link, Loop, Mechanism
from robodyn.errors import RobodynError, TopologyError, some_of
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.joints import floating
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.report import problem_of
from robodyn.urdf.common.xml import line_of
from robodyn.urdf.sdf.frames import MODEL, Frames, inverse
from robodyn.urdf.sdf.hinges import Hinges, coordinate_name
from robodyn.urdf.sdf.joint import WORLD, SdfJoint
from robodyn.urdf.sdf.loops import coupling_of, loop_of
from robodyn.urdf.sdf.model import SdfModel


@dataclass(frozen=True)
class _Bond:
    """A joint, and the links that it joins."""

    joint: SdfJoint
    parent: str
    child: str


def mechanism_of(
    reader: Reader, model: SdfModel, X_world: NDArray[np.float64], *, in_world: bool
) -> Mechanism | None:
    """A model as a mechanism; ``None`` and problems if it is none.

    ``X_world`` is the pose of the model in the world. With ``in_world`` the root link stands where
    the file puts it, and not in the origin of the world.
    """
    frames = model.frames
    if any(WORLD in (joint.parent, joint.child) for joint in model.joints.values()):
        frames.add(WORLD, inverse(X_world))
        model.links = {WORLD: Link(WORLD), **model.links}
    bonds = [*_bonds(reader, model)]
    if reader.incomplete:
        return None
    try:
        root = _root(model, bonds)
        tree, loops, loose = _tree(bonds, root, model.links)
        hinges = Hinges(frames, model.joints)
        if in_world and root != WORLD:
            X_root = X_world @ frames.pose(root)
            if not np.allclose(X_root[0], np.eye(4), rtol=0.0, atol=1e-12):
                hinges.links.append(Link(WORLD))
                hinges.attach(root, WORLD, root, model.links[root].line, X_root)
        for name in loose:
            line, kind = model.links[name].line, floating.KIND.name
            hinges.attach(f"{name}_free", root, name, line, kind=kind)
        if loose:
            names = some_of([*map(repr, loose)], 5)
            reader.problem(
                model.element,
                f"no joint leads from {root!r} to {names}: a robot is connected; join them, or "
                "remove them",
                leniently="read as bodies that move freely",
            )
        for bond, reverse in tree:
            ends = (bond.child, bond.parent) if reverse else (bond.parent, bond.child)
            hinges.add(bond.joint, *ends, reverse=reverse)
        for name, element in model.points:
            link, line = frames.link(name), line_of(element)
            hinges.links.append(Link(name, line=line))
            hinges.attach(name, link, name, line)
    except RobodynError as error:
        reader.problem(model.element, error, lost=True)
        return None
    couplings = (coupling_of(reader, gear, hinges.joints, frames) for gear in model.gears)
    return Mechanism(
        model.name,
        (*model.links.values(), *hinges.links),
        tuple(hinges.joints),
        (*_loops(reader, loops, frames), *_of_drake(reader, model)),
        tuple(x for x in couplings if x is not None),
        tuple(
            (coordinate_name(joint, "axis"), joint.motor)
            for joint in model.joints.values()
            if joint.motor is not None
        ),
        file=reader.file,
        link_elements=tuple(
            WeightCompensation(x.name, x.inertia.origin.xyz, x.inertia.mass, f"weight of {x.name}")
            for x in map(model.links.__getitem__, model.weightless)
            if x.inertia is not None and x.inertia.mass > 0.0
        ),
    )


def _bonds(reader: Reader, model: SdfModel) -> Iterator[_Bond]:
    """Joints with the links that they join; what they name wrongly is a problem."""
    for joint in model.joints.values():
        try:
            ends = [model.frames.link(end) for end in (joint.parent, joint.child)]
            model.frames.pose(joint.name)
        except RobodynError as error:
            reader.problem(joint.element, error, lost=True)
            continue
        if ends[0] == ends[1]:
            reader.problem(joint.element, f"joins the link {ends[0]!r} to itself", lost=True)
        else:
            yield _Bond(joint, *ends)


def _root(model: SdfModel, bonds: list[_Bond]) -> str:
    """The world, the only link that is no child, or the one the model's frame moves with."""
    if WORLD in model.links:
        return WORLD
    if not model.links:
        raise TopologyError(f"the model {model.name!r} has no links")
    children = {bond.child for bond in bonds}
    roots = [name for name in model.links if name not in children]
    return roots[0] if len(roots) == 1 else model.frames.link(MODEL)


def _tree(
    bonds: list[_Bond], root: str, links: Iterable[str]
) -> tuple[list[tuple[_Bond, bool]], list[_Bond], list[str]]:
    """Joints of a spanning tree, each with whether it is gone from child to parent; and the others.

    The last result are links from which parts begin that no joint connects with the root. The tree
    has joints that follow others, or are followed, as what closes loops has no coordinate; it is
    gone from parents to children where it can be. Where there is a choice it has the joint with the
    fewest degrees of freedom, so that the loops have the fewest constraints; then the first in
    the file.
    """
    mimics = [(x.joint.name, a.mimic.joint) for x in bonds for a in x.joint.axes if a.mimic]
    followed = {name for pair in mimics for name in pair}
    beside: dict[str, list[int]] = {}
    for i, bond in enumerate(bonds):
        beside.setdefault(bond.parent, []).append(i)
        beside.setdefault(bond.child, []).append(i)
    children = {bond.child for bond in bonds}
    begins = sorted(links, key=lambda name: name in children)
    loose: list[str] = []
    reached: set[str] = set()
    way: dict[int, bool] = {}
    edges: list[tuple[bool, bool, int, int]] = []  # the next one to go first
    pending = root
    while True:
        reached.add(pending)
        for i in beside.get(pending, ()):
            joint, reverse = bonds[i].joint, bonds[i].child == pending
            heapq.heappush(edges, (joint.name not in followed, reverse, joint.kind.nv, i))
        while edges and reached >= {bonds[edges[0][-1]].parent, bonds[edges[0][-1]].child}:
            heapq.heappop(edges)
        if not edges:
            lonely = next((name for name in begins if name not in reached), None)
            if lonely is None:
                break
            loose.append(lonely)
            pending = lonely
            continue
        _, reverse, _, i = heapq.heappop(edges)
        way[i] = reverse
        pending = bonds[i].parent if reverse else bonds[i].child
    tree = [(bonds[i], way[i]) for i in sorted(way)]
    return tree, [bond for i, bond in enumerate(bonds) if i not in way], loose


def _loops(reader: Reader, bonds: list[_Bond], frames: Frames) -> Iterator[Loop]:
    for bond in bonds:
        try:
            yield loop_of(reader, bond.joint, frames)
        except RobodynError as error:
            reader.problem(bond.joint.element, error, lost=True)


def _of_drake(reader: Reader, model: SdfModel) -> Iterator[Loop]:
    """Constraints of Drake, between links that the model knows."""
    for loop in model.closures:
        bodies = loop.predecessor, loop.successor
        try:
            if tuple(map(model.frames.link, bodies)) == bodies:
                yield loop
                continue
            problem = f"joins {' and '.join(map(repr, bodies))}: expected two links"
            reader.problem(model.element, f"{loop.name} {problem}", lost=True)
        except RobodynError as error:
            reader.problem(model.element, f"{loop.name}: {problem_of(error)}", lost=True)
