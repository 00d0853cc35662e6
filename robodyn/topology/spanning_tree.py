"""The spanning tree of a described graph of links and joints.

Links that no joint moves relative to each other become one body. Of each loop one joint is cut,
the one with the most degrees of freedom, which leaves a spanning tree [W 5.3.2.3].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable
from dataclasses import field

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Link, Loop, Mechanism
from robodyn.description.graph_check import find_root, graph_problems, unknown_links
from robodyn.description.pose import inverse_pose
from robodyn.errors import TopologyError, UnknownNameError
from robodyn.force_elements import keeps_coordinate
from robodyn.joints import floating as floating_joint, joint_kind
from robodyn.quick_dataclass import dataclass
from robodyn.topology.body_inertia import BodyInertia, body_inertia, shift_inertia

#: Name of the joint that ``spanning_tree(..., floating=True)`` puts before the root.
FLOATING_BASE = "floating_base"


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """The joint that moves body ``i``, where ``i`` is its index in ``SpanningTree.joints``.

    The body frame is the joint frame that this joint moves. If the tree runs along the joint, that
    is the link frame of the joint's child, and ``X_PB(q) = X_PJ J(q)``. If it runs against the
    joint (``reversed``), it is the joint frame fixed on the joint's parent link, and
    ``X_PB(q) = X_PJ J(q)^-1``.

    parent: Parent body, ``-1`` for the base.
    X_PJ (4, 4) [1, m]: Joint frame in the frame of the parent body, at zero position.
    reversed: The tree goes from the joint's child to the joint's parent.
    mimic: Index of the master joint, multiplier, offset; the master is no mimic joint itself.
    follows: Its position follows from those of others, by a closed loop or a function.
    """

    joint: Joint
    parent: int
    X_PJ: FloatArray
    reversed: bool = False
    mimic: tuple[int, float, float] | None = None
    follows: bool = False

    @property
    def independent(self) -> bool:
        """It has coordinates of its own."""
        return self.mimic is None and not self.follows


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A tree of rigid bodies and the joints that were cut to get it.

    root: Root link.
    joints: One a body, depth first from the root, children in the order of the file. A parent comes
        before its children. Fixed joints are fused away.
    inertias: One a body, of all its links.
    base_inertia: Of the links fused with the root; zero for a floating base, where body 0 has them.
    links: Link name -> body (``-1``: the base) and ``X_BL``, the link frame in the body frame,
        shape (4, 4) [1, m].
    cuts: What closes the loops: cut joints in the order of the file, then ``mechanism.loops``.
    link_inertias: What links add to the inertias of bodies.
    """

    root: str
    joints: tuple[TreeJoint, ...]
    inertias: tuple[BodyInertia, ...]
    base_inertia: BodyInertia
    links: dict[str, tuple[int, FloatArray]]
    cuts: tuple[Joint | Loop, ...]
    link_inertias: dict[str, BodyInertia] = field(default_factory=dict)

    @property
    def functions(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The functions i+ and i- of `topology.incidence`: a regular labelling, arcs outwards."""
        count = len(self.joints)
        return tuple(joint.parent + 1 for joint in self.joints), tuple(range(1, count + 1))


def spanning_tree(
    mechanism: Mechanism,
    *,
    floating: bool = False,
    root: str | None = None,
    keep_fixed: Container[str] = (),
) -> SpanningTree:
    """Spanning tree of a mechanism, with fixed joints fused.

    floating: Put a joint of kind ``"floating"``, named ``"floating_base"``, before the root.
    root, optional: Root link; joints are followed backwards where they point to it. Default: that
        of the mechanism, or the link that is no joint's child.
    keep_fixed: Names of fixed joints that stay joints, without freedoms, because the wrench in them
        is wanted.
    Raises TopologyError: Unknown links, two roots, an island, a directed cycle.
    Raises UnknownNameError: No link is called ``root``.
    """
    names = {link.name for link in mechanism.links}
    root = root or mechanism.root
    if root is not None and root not in names:
        raise UnknownNameError("link", root, names, mechanism.name)
    found = unknown_links(mechanism) if root is not None else graph_problems(mechanism)
    if found:
        raise found[0]
    root = root or find_root(mechanism)
    kept, cut = _cut_loops(mechanism)
    for joint in mechanism.joints if floating else ():
        # quadrupeds have a fixed joint of this name in their files, which no one asks about
        if joint.name == FLOATING_BASE and joint.nv:
            raise TopologyError(
                "the name is that of the joint which base='floating' adds: rename it",
                **mechanism.where(joint),
            )
    joints, links = _walk(kept, root, floating, keep_fixed)
    _check_connected(mechanism, links, root)
    by_link = {x.name: _inertia_on_body(x, links) for x in mechanism.links}
    base, inertias = _lump(by_link, links, len(joints))
    resolved = _resolve_mimics(mechanism, joints)
    following = {joint for loop in mechanism.followers for joint in loop.dependent}
    resolved = tuple(
        dataclasses.replace(x, follows=True) if x.joint.name in following else x for x in resolved
    )
    return SpanningTree(root, resolved, inertias, base, links, (*cut, *mechanism.loops), by_link)


def described_anew(tree: SpanningTree, before: Mechanism, mechanism: Mechanism) -> SpanningTree:
    """The same tree with the inertias of links, and the numbers of joints, of another description.

    It is of the description ``before``, and the other has the same links and joints.
    """
    pairs = zip(before.links, mechanism.links, strict=True)
    changed = [new for old, new in pairs if new is not old]
    touched = {tree.links[x.name][0] for x in changed}
    by_link = tree.link_inertias | {x.name: _inertia_on_body(x, tree.links) for x in changed}
    some = {name: x for name, x in by_link.items() if tree.links[name][0] in touched}
    base, inertias = _lump(some, tree.links, len(tree.joints))
    tree = dataclasses.replace(
        tree,
        inertias=tuple(
            new if i in touched else old
            for i, (old, new) in enumerate(zip(tree.inertias, inertias, strict=True))
        ),
        base_inertia=base if -1 in touched else tree.base_inertia,
        link_inertias=by_link,
    )
    if mechanism.joints is before.joints and mechanism.loops is before.loops:
        return tree
    # by kind, too: a file may have a fixed joint with the name of the free joint before the root
    described = {(x.name, x.kind): x for x in mechanism.joints}
    movers = {x.name: x for x in mechanism.movers}
    joints = tuple(
        dataclasses.replace(x, joint=described.get((x.joint.name, x.joint.kind), x.joint))
        for x in tree.joints
    )
    return dataclasses.replace(tree, joints=joints, cuts=tuple(movers[x.name] for x in tree.cuts))


def cut_joints(mechanism: Mechanism) -> tuple[Joint, ...]:
    """Joints that `spanning_tree` cuts, in the order of the file."""
    return tuple(_cut_loops(mechanism)[1])


def _cut_loops(mechanism: Mechanism) -> tuple[list[Joint], list[Joint]]:
    """Joints of a spanning forest and the joints cut, each in the order of the file.

    Kruskal's algorithm: joints join components in the order of their degrees of freedom, so that
    of each loop the freest joint stays out. Among equals, joints that carry a motor, a spring, an
    armature, a mimic or the mark ``independent``, are given as a map or named by a constraint, a
    force or a function that joints follow stay in, then those that slide, and the last of the file
    is cut.
    """
    wanted = {name for name, _ in mechanism.actuators}
    for joint in mechanism.joints:
        if joint.mimic is not None:
            wanted |= {joint.name, joint.mimic.joint}
        if joint.independent or keeps_coordinate(joint) or joint.map is not None:
            wanted.add(joint.name)
    for constraint in mechanism.constraints:
        wanted |= {*constraint.joints}
    wanted |= {spring.joint for spring in mechanism.gear_springs}
    wanted |= {force.joint for force in mechanism.forces}
    wanted |= {joint for loop in mechanism.followers for joint in loop.joints}

    def freedom(joint: Joint) -> tuple[int, bool, bool]:
        return joint.nv, joint.name not in wanted, not joint_kind(joint.kind).is_slider

    component = {link.name: link.name for link in mechanism.links}

    def find(name: str) -> str:
        while component[name] != name:
            component[name] = component[component[name]]
            name = component[name]
        return name

    kept = set()
    for index in sorted(
        range(len(mechanism.joints)), key=lambda i: (*freedom(mechanism.joints[i]), i)
    ):
        joint = mechanism.joints[index]
        a, b = find(joint.parent), find(joint.child)
        if a != b:
            component[b] = a
            kept.add(index)
    return (
        [joint for i, joint in enumerate(mechanism.joints) if i in kept],
        [joint for i, joint in enumerate(mechanism.joints) if i not in kept],
    )


def _walk(
    kept: Iterable[Joint], root: str, floating: bool, keep_fixed: Container[str]
) -> tuple[list[TreeJoint], dict[str, tuple[int, FloatArray]]]:
    """Joints that move a body and the place of each link, depth first from the root."""
    at: dict[str, list[Joint]] = {}
    for joint in kept:
        at.setdefault(joint.parent, []).append(joint)
        at.setdefault(joint.child, []).append(joint)

    joints: list[TreeJoint] = []
    links = {root: (-1, np.eye(4))}
    if floating:
        base = Joint(FLOATING_BASE, floating_joint.KIND.name, "world", root)
        joints.append(TreeJoint(base, -1, np.eye(4)))
        links[root] = (0, np.eye(4))

    # A stack of iterators, since robots of thousands of links would break recursion.
    stack = [(root, iter(at.get(root, ())))]
    while stack:
        link, rest = stack[-1]
        step = next(rest, None)
        if step is None:
            stack.pop()
            continue
        backward = step.child == link
        target = step.parent if backward else step.child
        if target in links:  # the joint by which this link was reached
            continue
        body, X_BL = links[link]
        X_BJ = X_BL if backward else X_BL @ step.origin.matrix
        X_JL = inverse_pose(step.origin.matrix) if backward else np.eye(4)
        if not step.nv and step.map is None and step.name not in keep_fixed:
            links[target] = (body, X_BJ @ X_JL)
        else:
            links[target] = (len(joints), X_JL)
            joints.append(TreeJoint(step, body, X_BJ, backward))
        stack.append((target, iter(at[target])))
    return joints, links


def _check_connected(
    mechanism: Mechanism, reached: dict[str, tuple[int, FloatArray]], root: str
) -> None:
    for link in mechanism.links:
        if link.name not in reached:
            raise TopologyError(
                f"no chain of joints leads from the root {root!r} to this link",
                **mechanism.where(link),
            )


def _inertia_on_body(link: Link, places: dict[str, tuple[int, FloatArray]]) -> BodyInertia:
    """Inertia of a link about the origin of its body."""
    if link.inertia is None:
        return BodyInertia.zero()
    return shift_inertia(places[link.name][1], body_inertia(link))


def _lump(
    links: dict[str, BodyInertia], places: dict[str, tuple[int, FloatArray]], count: int
) -> tuple[BodyInertia, tuple[BodyInertia, ...]]:
    """Inertia of the base and of each body, summed over their links."""
    bodies = [BodyInertia.zero()] * (count + 1)
    for name, inertia in links.items():
        bodies[places[name][0]] += inertia  # -1, the base, is the last
    return bodies[-1], tuple(bodies[:-1])


def _resolve_mimics(mechanism: Mechanism, joints: list[TreeJoint]) -> tuple[TreeJoint, ...]:
    """Give each mimic joint the joint at the end of its chain of masters."""
    index = {joint.joint.name: i for i, joint in enumerate(joints)}
    resolved = []
    for joint in joints:
        multiplier, offset = 1.0, 0.0
        name, seen = joint.joint.name, set[str]()
        while (mimic := joints[index[name]].joint.mimic) is not None:
            # q = m (m' q' + o') + o
            offset += multiplier * mimic.offset
            multiplier *= mimic.multiplier
            seen.add(name)
            name = mimic.joint
            if name not in index or name in seen:
                reason = "which is fixed, cut or unknown" if name not in seen else "in a circle"
                raise TopologyError(f"mimics {name!r}, {reason}", **mechanism.where(joint.joint))
        if seen:
            joint = dataclasses.replace(joint, mimic=(index[name], multiplier, offset))
        resolved.append(joint)
    return tuple(resolved)
