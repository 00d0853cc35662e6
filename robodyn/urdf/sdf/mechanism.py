"""Conversion of an SDF model to a mechanism: the joints of a spanning tree, and the loops."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn.description import Coupling, Link, Loop, Mechanism
from robodyn.errors import RobodynError, TopologyError
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.report import problem_of
from robodyn.urdf.common.xml import Element, line_of
from robodyn.urdf.sdf.frames import MODEL, SEPARATOR, inverse
from robodyn.urdf.sdf.hinges import Hinges, coordinate_name
from robodyn.urdf.sdf.joint import WORLD, SdfJoint, scoped, scoped_joint
from robodyn.urdf.sdf.loops import exactly_placed, loop_of, placed, read_gear
from robodyn.urdf.sdf.model import SdfModel


@dataclass(frozen=True)
class _Bond:
    """A joint, and the links that it joins."""

    joint: SdfJoint
    parent: str
    child: str


@dataclass
class _ModelContents:
    """Content of a model and of its nested models, by scoped names."""

    links: dict[str, Link] = field(default_factory=dict)
    weightless: list[str] = field(default_factory=list)
    joints: dict[str, SdfJoint] = field(default_factory=dict)
    points: list[tuple[str, Element]] = field(default_factory=list)
    gears: list[tuple[Element, bool, str]] = field(default_factory=list)
    closures: list[tuple[Loop, str]] = field(default_factory=list)


def _contents(model: SdfModel, scope: str = "") -> _ModelContents:
    found = _ModelContents(
        {
            scope + name: dataclasses.replace(x, name=scope + name)
            for name, x in model.links.items()
        },
        [scope + name for name in model.weightless],
        {scope + joint.name: scoped_joint(joint, scope) for joint in model.joints},
        [(scope + name, element) for name, element in model.points],
        [(*gear, scope) for gear in model.gears],
        [(closure, scope) for closure in model.closures],
    )
    for name, inner in model.models.items():
        more = _contents(inner, f"{scope}{name}{SEPARATOR}")
        found.links |= more.links
        found.weightless += more.weightless
        found.joints |= more.joints
        found.points += more.points
        found.gears += more.gears
        found.closures += more.closures
    return found


def mechanism_of(
    reader: Reader, model: SdfModel, X_world: NDArray[np.float64], *, in_world: bool
) -> Mechanism | None:
    """A model as a mechanism; ``None`` and problems if it is none.

    ``X_world`` is the pose of the model in the world. With ``in_world`` the root link stands where
    the file puts it, and not in the origin of the world.
    """
    parts, frames = _contents(model), model.frames
    if any(WORLD in (joint.parent, joint.child) for joint in parts.joints.values()):
        for known in (frames, model.exact):
            known.add(WORLD, inverse(X_world))
        parts.links = {WORLD: Link(WORLD), **parts.links}
    bonds = [*_bonds(reader, parts, model)]
    if reader.incomplete:
        return None
    try:
        root = _root(parts, bonds, model)
        tree, loops, loose = _tree(bonds, root, parts)
        hinges = Hinges(frames, model.exact, parts.joints)
        if in_world and root != WORLD:
            X_root = X_world @ frames.pose(root)
            if not np.allclose(X_root, np.eye(4), rtol=0.0, atol=1e-12):
                hinges.links.append(Link(WORLD))
                hinges.weld(
                    root,
                    WORLD,
                    root,
                    parts.links[root].line,
                    lambda known: X_world @ known.pose(root),
                )
        for name in loose:
            hinges.free(f"{name}_free", root, name, parts.links[name].line)
        if loose:
            names = ", ".join(map(repr, loose[:5])) + (", ..." if len(loose) > 5 else "")
            reader.problem(
                model.element,
                f"no joint leads from {root!r} to {names}: a robot is connected; join them, or "
                "remove them",
                leniently="read as bodies that move freely",
            )
        for bond, reverse in tree:
            ends = (bond.child, bond.parent) if reverse else (bond.parent, bond.child)
            hinges.add(bond.joint, *ends, reverse=reverse)
        for name, element in parts.points:
            link, line = frames.link(name), line_of(element)
            hinges.links.append(Link(name, line=line))
            hinges.weld(name, link, name, line)
    except RobodynError as error:
        reader.problem(model.element, error, lost=True)
        return None
    return Mechanism(
        model.name,
        (*parts.links.values(), *hinges.links),
        tuple(hinges.joints),
        (*_loops(reader, loops, model), *_of_drake(reader, parts, model)),
        tuple(_couplings(reader, parts, hinges, model)),
        tuple(
            (coordinate_name(joint, "axis"), joint.motor)
            for joint in parts.joints.values()
            if joint.motor is not None
        ),
        file=reader.file,
        link_elements=tuple(
            WeightCompensation(x.name, x.inertia.origin.xyz, x.inertia.mass, f"weight of {x.name}")
            for x in map(parts.links.__getitem__, parts.weightless)
            if x.inertia is not None and x.inertia.mass > 0.0
        ),
    )


def _bonds(reader: Reader, parts: _ModelContents, model: SdfModel) -> Iterator[_Bond]:
    """Joints with the links that they join; what they name wrongly is a problem."""
    for joint in parts.joints.values():
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


def _root(parts: _ModelContents, bonds: list[_Bond], model: SdfModel) -> str:
    """The world, the only link that is no child, or the one the model's frame moves with."""
    if WORLD in parts.links:
        return WORLD
    if not parts.links:
        raise TopologyError(f"the model {model.name!r} has no links")
    children = {bond.child for bond in bonds}
    roots = [name for name in parts.links if name not in children]
    return roots[0] if len(roots) == 1 else model.frames.link(MODEL)


def _tree(
    bonds: list[_Bond], root: str, parts: _ModelContents
) -> tuple[list[tuple[_Bond, bool]], list[_Bond], list[str]]:
    """Joints of a spanning tree, each with whether it is gone from child to parent; and the others.

    The last result are links from which parts begin that no joint connects with the root. The tree
    is gone from parents to children where it can be. Where there is a choice it has the joint with
    the fewest degrees of freedom, so that the loops have the fewest constraints; then the first in
    the file.
    """
    beside: dict[str, list[int]] = {}
    for i, bond in enumerate(bonds):
        beside.setdefault(bond.parent, []).append(i)
        beside.setdefault(bond.child, []).append(i)
    children = {bond.child for bond in bonds}
    begins = sorted(parts.links, key=lambda name: name in children)
    loose: list[str] = []
    reached: set[str] = set()
    way: dict[int, bool] = {}
    edges: list[tuple[bool, int, int]] = []  # the next one to go first
    pending = root
    while True:
        reached.add(pending)
        for i in beside.get(pending, ()):
            heapq.heappush(edges, (bonds[i].child == pending, bonds[i].joint.kind.nv, i))
        while edges and reached >= {bonds[edges[0][2]].parent, bonds[edges[0][2]].child}:
            heapq.heappop(edges)
        if not edges:
            lonely = next((name for name in begins if name not in reached), None)
            if lonely is None:
                break
            loose.append(lonely)
            pending = lonely
            continue
        reverse, _, i = heapq.heappop(edges)
        way[i] = reverse
        pending = bonds[i].parent if reverse else bonds[i].child
    tree = [(bonds[i], way[i]) for i in sorted(way)]
    return tree, [bond for i, bond in enumerate(bonds) if i not in way], loose


def _loops(reader: Reader, bonds: list[_Bond], model: SdfModel) -> Iterator[Loop]:
    for bond in bonds:
        try:
            loop = loop_of(reader, bond.joint, model.frames)
            exact = placed(exactly_placed(bond.joint), model.exact)
            yield dataclasses.replace(loop, exact=dataclasses.replace(loop, **exact))
        except RobodynError as error:
            reader.problem(bond.joint.element, error, lost=True)


def _of_drake(reader: Reader, parts: _ModelContents, model: SdfModel) -> Iterator[Loop]:
    """Constraints of Drake, by the names that the model knows."""
    for loop, scope in parts.closures:
        bodies = [scoped(body, scope) for body in (loop.predecessor, loop.successor)]
        try:
            links = [model.frames.link(body) for body in bodies]
        except RobodynError as error:
            reader.problem(model.element, f"{loop.name}: {problem_of(error)}", lost=True)
            continue
        if links != bodies:
            names = " and ".join(map(repr, bodies))
            reader.problem(
                model.element, f"{loop.name} joins {names}: expected two links", lost=True
            )
            continue
        A, B = links
        yield dataclasses.replace(loop, name=scope + loop.name, predecessor=A, successor=B)


def _couplings(
    reader: Reader, parts: _ModelContents, hinges: Hinges, model: SdfModel
) -> Iterator[Coupling]:
    for element, axes_in_model, scope in parts.gears:
        gear = read_gear(
            reader,
            element,
            hinges.joints,
            model.frames,
            axes_in_model=axes_in_model,
            scope=scope,
        )
        if gear is not None:
            yield gear
