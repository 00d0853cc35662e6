"""Conversion of an SDF model to a mechanism: the joints of a spanning tree, and the loops."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Link, Loop, Mechanism, Mimic, Pose
from robodyn.description.joint import with_constants
from robodyn.errors import RobodynError, TopologyError, some_of
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.joints import fixed, floating, revolute
from robodyn.tolerances import SAME_ORIGIN
from robodyn.urdf.common.joint_values import JointDynamics
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.report import problem_of
from robodyn.urdf.common.xml import line_of
from robodyn.urdf.sdf.frames import MODEL, Frames, Matrix, both, inverse
from robodyn.urdf.sdf.joint import WORLD, SdfAxis, SdfJoint, axes_as_fields
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


def is_split(joint: SdfJoint) -> bool:
    """Whether a joint with two axes is two hinges, because one of them has values of its own."""
    values = [axis for axis in joint.axes if axis.limits or axis.mimic]
    return len(joint.axes) == 2 and bool(
        values or any(axis.dynamics != JointDynamics() for axis in joint.axes)
    )


def coordinate_name(joint: SdfJoint, axis: str) -> str:
    """Name of the converted joint for an axis of an SDF joint."""
    return f"{joint.name}_{axis}" if is_split(joint) else joint.name


@dataclass
class Hinges:
    """Collects joints of the tree, and the links between them.

    ``by_name`` has all joints of the model, for those that follow another.
    """

    frames: Frames
    by_name: dict[str, SdfJoint]
    joints: list[Joint] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def attach(
        self,
        name: str,
        parent: str,
        child: str,
        line: int | None,
        X: Matrix | None = None,
        *,
        kind: str = fixed.KIND.name,
    ) -> None:
        """Fix a link to another: where its frame stands in the other's, or at ``X``.

        A link that floats is at zero there.
        """
        place = self.frames.pose_in(child, parent) if X is None else X
        self._add(Joint(name, kind, parent, child, line=line), place)

    def add(self, joint: SdfJoint, parent: str, child: str, *, reverse: bool) -> None:
        """Add a joint between two links; ``reverse`` if the tree comes from its child.

        Its ``parent`` and ``child`` are links, as the tree has them.
        """
        if not joint.kind.nv:
            self.attach(joint.name, parent, child, joint.line)
            return
        # It stands in the frame of its child if it moves the same from there.
        away = np.abs(self.frames.pose_in(joint.name, child)[0, :3, 3]).max() > SAME_ORIGIN
        at = joint.name if joint.kind.turns and away else child
        if at != child:
            self.links.append(Link(at, line=joint.line))
        tags = ["axis", "axis2"][: len(joint.axes)][:: -1 if reverse else 1]
        # It moves the frame `at`, which stands where the joint does, turned or not.
        R, X = self.frames.pose_in(joint.name, at)[:, :3, :3], self.frames.pose_in(at, parent)
        given = (axis.directions(self.frames, joint.name)[..., None] for axis in joint.axes)
        axes = [(R @ x)[..., 0] for x in given]
        axes = [-x for x in reversed(axes)] if reverse else axes
        if is_split(joint):
            between = f"{joint.name}_{tags[0]}"
            self.links.append(Link(between, line=joint.line))
            self._add(self._hinge(joint, tags[0], parent, between), X, *axes)
            self._add(self._hinge(joint, tags[1], between, at), both(Pose()), axes[1])
        else:
            self._add(self._joint(joint, parent, at), X, *axes)
        if at != child:
            self.attach(child, at, child, joint.line)

    def _add(self, joint: Joint, X: Matrix, *axes: FloatArray) -> None:
        """Add a joint with its origin and axes, each as written and exactly."""
        placed, exactly = (
            dataclasses.replace(joint, origin=Pose.from_matrix(X[k]), **axes_as_fields(axes, k))
            for k in range(2)
        )
        if placed != exactly:
            placed = dataclasses.replace(placed, exact=exactly)
        self.joints.append(placed)

    def _hinge(self, joint: SdfJoint, tag: str, parent: str, child: str) -> Joint:
        """One of the two hinges of a joint with two axes."""
        axis = joint.axes[("axis", "axis2").index(tag)]
        kind = revolute.KIND.name
        return self._with_values(
            Joint(f"{joint.name}_{tag}", kind, parent, child, line=joint.line), axis
        )

    def _joint(self, joint: SdfJoint, parent: str, child: str) -> Joint:
        found = Joint(joint.name, joint.kind.name, parent, child, line=joint.line)
        if len(joint.axes) == 1:
            found = self._with_values(found, joint.axes[0])
        pitch = {parameter.name: joint.pitch for parameter in joint.kind.parameters}
        return with_constants(found, pitch)

    def _with_values(self, ours: Joint, axis: SdfAxis) -> Joint:
        """A joint with the limits, springs and such of an axis."""
        return dataclasses.replace(
            ours,
            limits=axis.limits,
            mimic=self._mimic(axis),
            **dataclasses.asdict(axis.dynamics),
        )

    def _mimic(self, axis: SdfAxis) -> Mimic | None:
        """``q = multiplier (q_leader - reference) + offset``."""
        followed = axis.mimic
        if followed is None:
            return None
        leader = followed.joint
        if leader in self.by_name:
            leader = coordinate_name(self.by_name[leader], followed.axis)
        offset = followed.offset - followed.multiplier * followed.reference
        return Mimic(leader, followed.multiplier, offset)
