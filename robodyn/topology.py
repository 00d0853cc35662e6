"""From the graph a person drew to the tree a computer walks.

Links that no joint moves relative to each other become one body. Of each loop one joint is cut,
the one with the most degrees of freedom, which leaves a spanning tree [W 5.3.2.3].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.description import JOINT_KINDS, Inertia, Joint, Link, Loop, Mechanism
from robodyn.errors import InertiaError, TopologyError, UnknownNameError

__all__ = [
    "FLOATING_BASE",
    "BodyInertia",
    "SpanningTree",
    "TreeJoint",
    "body_inertia",
    "find_root",
    "graph_problems",
    "massless_motions",
    "shift_inertia",
    "spanning_tree",
]

Array = NDArray[np.float64]

#: Name of the joint that ``spanning_tree(..., floating=True)`` puts before the root.
FLOATING_BASE = "floating_base"


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """The joint that moves body ``i``, where ``i`` is its index in ``SpanningTree.joints``.

    The body frame is the joint frame that this joint moves. If the tree runs along the joint, that
    is the link frame of the joint's child, and ``X_PB(q) = X_PJ J(q)``. If it runs against the
    joint (``reversed``), it is the joint frame fixed on the joint's parent link, and
    ``X_PB(q) = X_PJ J(q)^-1``.

    Attributes
    ----------
    joint : Joint
    parent : int
        Parent body, ``-1`` for the base.
    X_PJ : ndarray, shape (4, 4) [1, m]
        Joint frame in the frame of the parent body, at zero position.
    reversed : bool
        The tree goes from the joint's child to the joint's parent.
    mimic : (int, float, float) or None
        Index of the master joint, multiplier, offset; the master mimics nobody.
    """

    joint: Joint
    parent: int
    X_PJ: Array
    reversed: bool = False
    mimic: tuple[int, float, float] | None = None


@dataclass(frozen=True, eq=False)
class BodyInertia:
    """Inertia of a body about the origin of its frame, in its axes.

    Attributes
    ----------
    mass : float [kg]
    h : ndarray, shape (3,) [kg m]
        Mass times centre of mass.
    I : ndarray, shape (3, 3) [kg m^2]
    """

    mass: float
    h: Array
    I: Array

    def about_center(self) -> Array:
        """Inertia about the centre of mass, in body axes, shape (3, 3) [kg m^2]."""
        if self.mass == 0.0:
            return self.I
        moment = np.outer(self.h, self.h) - (self.h @ self.h) * np.eye(3)
        return self.I + moment / self.mass

    @classmethod
    def zero(cls) -> BodyInertia:
        """Inertia of nothing."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    def __add__(self, other: BodyInertia) -> BodyInertia:
        """Inertia of both, given about the same point and in the same axes."""
        return BodyInertia(self.mass + other.mass, self.h + other.h, self.I + other.I)


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A tree of rigid bodies and the joints that were cut to get it.

    Attributes
    ----------
    root : str
        Root link.
    joints : tuple of TreeJoint
        One a body, depth first from the root, children in the order of the file. A parent comes
        before its children. Fixed joints are fused away.
    inertias : tuple of BodyInertia
        One a body, of all its links.
    base_inertia : BodyInertia
        Of the links fused with the root; zero for a floating base, where body 0 has them.
    links : dict of str to (int, ndarray)
        Link name -> body (``-1``: the base) and ``X_BL``, the link frame in the body frame, shape
        (4, 4) [1, m].
    cuts : tuple of Joint or Loop
        What closes the loops: cut joints in the order of the file, then ``mechanism.loops``.
    """

    root: str
    joints: tuple[TreeJoint, ...]
    inertias: tuple[BodyInertia, ...]
    base_inertia: BodyInertia
    links: dict[str, tuple[int, Array]]
    cuts: tuple[Joint | Loop, ...]


def spanning_tree(
    mechanism: Mechanism, *, floating: bool = False, root: str | None = None
) -> SpanningTree:
    """Spanning tree of a mechanism, with fixed joints fused.

    Parameters
    ----------
    mechanism : Mechanism
    floating : bool
        Put a joint of kind ``"floating"``, named ``"floating_base"``, before the root.
    root : str, optional
        Root link; joints are followed backwards where they point to it. Default: the link that is
        no joint's child.

    Raises
    ------
    TopologyError
        Unknown links, two roots, an island, a directed cycle.
    UnknownNameError
        No link is called ``root``.
    """
    names = {link.name for link in mechanism.links}
    if root is not None and root not in names:
        raise UnknownNameError("link", root, names, mechanism.name)
    found = _unknown_links(mechanism) if root is not None else graph_problems(mechanism)
    if found:
        raise found[0]
    root = root or find_root(mechanism)
    kept, cut = _cut_loops(mechanism)
    joints, links = _walk(kept, root, floating)
    _check_connected(mechanism, links, root)
    base, inertias = _lump(mechanism, links, len(joints))
    return SpanningTree(
        root, _resolve_mimics(mechanism, joints), inertias, base, links, (*cut, *mechanism.loops)
    )


def graph_problems(mechanism: Mechanism) -> list[TopologyError]:
    """All that keeps links and joints from forming one mechanism with one root."""
    found = _unknown_links(mechanism)
    if not found:
        for test in (_check_cycles, find_root):
            try:
                test(mechanism)
            except TopologyError as error:
                found.append(error)
                break
    return found


def massless_motions(mechanism: Mechanism) -> list[InertiaError]:
    """Joints that move nothing that resists: no mass in the whole branch, or none about the axis.

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
        driven = name in motors or joint.mimic is not None
        if not (resists or driven or held[i]):
            found.append(
                InertiaError(
                    f"nothing that the joint moves has mass (link {joint.joint.child!r} and what "
                    "hangs on it), so that the mass matrix is singular: give it an <inertial>, or "
                    "make the joint fixed",
                    **mechanism.where(joint.joint),
                )
            )
        if joint.parent >= 0:
            leaf[joint.parent] = False
            heavy[joint.parent] = heavy[joint.parent] or heavy[i] or driven
            held[joint.parent] = held[joint.parent] or held[i]
    return found[::-1]


def _resists(joint: TreeJoint, inertia: BodyInertia) -> bool:
    """Whether every motion of a leaf's joint, at zero position, moves some of its mass."""
    kind, axis = joint.joint.kind, np.asarray(joint.joint.axis, float)
    across = np.linalg.svd(axis[None, :])[2][1:]  # two directions normal to the axis
    turn = {
        "revolute": [axis],
        "continuous": [axis],
        "helical": [axis],
        "cylindrical": [axis],
        "universal": [axis, np.asarray(joint.joint.axis2, float)],
        "planar": [axis],
        "spherical": list(np.eye(3)),
        "floating": list(np.eye(3)),
    }.get(kind, [])
    push = {"prismatic": [axis], "cylindrical": [axis], "planar": list(across)}.get(kind, [])
    if kind == "floating":
        push = list(np.eye(3))
    motions = [np.concatenate([np.zeros(3), w]) for w in turn]
    motions += [np.concatenate([u, np.zeros(3)]) for u in push]
    if kind == "helical":
        motions = [np.concatenate([joint.joint.pitch * axis, axis])]
    S = np.array(motions).T
    # With a reversed joint the body turns about the same axis, through its own origin.
    x, y, z = inertia.h
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    spatial = np.block([[inertia.mass * np.eye(3), -hat], [hat, inertia.I]])
    size = max(inertia.mass, float(np.trace(inertia.I)))
    eigenvalues = np.linalg.eigvalsh(S.T @ spatial @ S)
    return bool(size > 0.0 and eigenvalues[0] > 1e-12 * eigenvalues[-1] > 0.0)


def _unknown_links(mechanism: Mechanism) -> list[TopologyError]:
    """Joints, loops and couplings that name links which do not exist, or one link twice."""
    known = {link.name for link in mechanism.links}
    found = []
    for item in (*mechanism.joints, *mechanism.loops, *mechanism.couplings):
        if isinstance(item, Joint):
            ends = {"parent": item.parent, "child": item.child}
        else:
            ends = {"predecessor": item.predecessor, "successor": item.successor}
        for role, name in ends.items():
            if name not in known:
                hint = UnknownNameError("link", name, known)
                found.append(TopologyError(f"the {role}: {hint}", **mechanism.where(item)))
        if len(set(ends.values())) == 1:
            message = f"joins the link {next(iter(ends.values()))!r} to itself"
            found.append(TopologyError(message, **mechanism.where(item)))
    return found


def find_root(mechanism: Mechanism) -> str:
    """Name of the only link that is no joint's child."""
    children = {joint.child for joint in mechanism.joints}
    roots = [link for link in mechanism.links if link.name not in children]
    if len(roots) == 1:
        return roots[0].name
    if not roots:
        raise TopologyError("the mechanism has no links", file=mechanism.file)
    names = ", ".join(repr(link.name) for link in roots[:10]) + (", ..." if len(roots) > 10 else "")
    raise TopologyError(
        f"{len(roots)} root links ({names}): a mechanism has one link that is no joint's child; "
        "connect the others to it by joints, or remove them",
        **mechanism.where(roots[1]),
    )


def _check_cycles(mechanism: Mechanism) -> None:
    """Raise ``TopologyError`` if one comes back to a link by following joints to children."""
    # Links without children are taken away until none is left; what remains leads to cycles.
    parents: dict[str, list[str]] = {link.name: [] for link in mechanism.links}
    children = dict.fromkeys(parents, 0)
    for joint in mechanism.joints:
        parents[joint.child].append(joint.parent)
        children[joint.parent] += 1
    leaves = [name for name, count in children.items() if count == 0]
    while leaves:
        for parent in parents[leaves.pop()]:
            children[parent] -= 1
            if children[parent] == 0:
                leaves.append(parent)
    onward: dict[str, Joint] = {}
    for joint in mechanism.joints:
        if children[joint.parent] and children[joint.child]:
            onward.setdefault(joint.parent, joint)
    if not onward:
        return
    path = [next(iter(onward))]
    while path[-1] not in path[:-1]:
        path.append(onward[path[-1]].child)
    cycle = path[path.index(path[-1]) :]
    last = max((onward[name] for name in cycle[:-1]), key=mechanism.joints.index)
    raise TopologyError(
        f"directed cycle {' -> '.join(cycle)}: exchange parent and child of joint {last.name!r} to "
        "write it as the joint that closes a loop",
        **mechanism.where(last),
    )


def body_inertia(link: Link) -> BodyInertia:
    """Inertia of a link about the origin of its frame, in its axes."""
    if link.inertia is None:
        return BodyInertia.zero()
    return inertia_about_origin(link.inertia)


def inertia_about_origin(inertia: Inertia) -> BodyInertia:
    """Inertia about the origin of the frame in which ``inertia.origin`` is given."""
    central = BodyInertia(inertia.mass, np.zeros(3), inertia.matrix)
    return shift_inertia(inertia.origin.matrix, central)


def shift_inertia(X: Array, inertia: BodyInertia) -> BodyInertia:
    """Express an inertia in another frame.

    Parameters
    ----------
    X : ndarray, shape (4, 4) [1, m]
        ``X_AB``, the frame B of the given inertia in the new frame A.
    inertia : BodyInertia
        About the origin of B, in its axes.

    Returns
    -------
    BodyInertia
        About the origin of A, in its axes.
    """
    R, p = X[:3, :3], X[:3, 3]
    h, m = R @ inertia.h, inertia.mass
    # Parallel axes between any two points, with h the first moment about the old origin:
    # I_A = R I_B R' + (2 p.h + m p.p) 1 - (p h' + h p' + m p p').
    first = np.outer(p, h)
    moment = R @ inertia.I @ R.T - first - first.T - m * np.outer(p, p)
    moment += (2.0 * (p @ h) + m * (p @ p)) * np.eye(3)
    return BodyInertia(m, h + m * p, moment)


def _cut_loops(mechanism: Mechanism) -> tuple[list[Joint], list[Joint]]:
    """Joints of a spanning forest and the joints cut, each in the order of the file.

    Kruskal's algorithm: joints join components in the order of their degrees of freedom, so that
    of each loop the freest joint stays out. Among equals, joints that carry a motor, a mimic or
    the mark ``independent`` stay in, and the last of the file is cut.
    """
    wanted = {name for name, _ in mechanism.actuators}
    for joint in mechanism.joints:
        if joint.mimic is not None:
            wanted |= {joint.name, joint.mimic.joint}
        if joint.independent:
            wanted.add(joint.name)

    def freedom(joint: Joint) -> tuple[int, bool]:
        return JOINT_KINDS[joint.kind][1], joint.name not in wanted

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
    kept: Iterable[Joint], root: str, floating: bool
) -> tuple[list[TreeJoint], dict[str, tuple[int, Array]]]:
    """Joints that move a body and the place of each link, depth first from the root."""
    at: dict[str, list[Joint]] = {}
    for joint in kept:
        at.setdefault(joint.parent, []).append(joint)
        at.setdefault(joint.child, []).append(joint)

    joints: list[TreeJoint] = []
    links = {root: (-1, np.eye(4))}
    if floating:
        base = Joint(FLOATING_BASE, "floating", "world", root)
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
        if step.kind == "fixed":
            links[target] = (body, X_BJ @ X_JL)
        else:
            links[target] = (len(joints), X_JL)
            joints.append(TreeJoint(step, body, X_BJ, backward))
        stack.append((target, iter(at[target])))
    return joints, links


def inverse_pose(X: Array) -> Array:
    """``X_BA`` of ``X_AB``, shape (4, 4) [1, m]."""
    inverse = np.eye(4)
    inverse[:3, :3] = X[:3, :3].T
    inverse[:3, 3] = -X[:3, :3].T @ X[:3, 3]
    return inverse


def _check_connected(
    mechanism: Mechanism, reached: dict[str, tuple[int, Array]], root: str
) -> None:
    for link in mechanism.links:
        if link.name not in reached:
            raise TopologyError(
                f"no chain of joints leads from the root {root!r} to this link",
                **mechanism.where(link),
            )


def _lump(
    mechanism: Mechanism, links: dict[str, tuple[int, Array]], count: int
) -> tuple[BodyInertia, tuple[BodyInertia, ...]]:
    """Inertia of the base and of each body, summed over their links."""
    bodies = [BodyInertia.zero()] * (count + 1)
    for link in mechanism.links:
        if link.inertia is not None:
            body, X_BL = links[link.name]
            bodies[body] += shift_inertia(X_BL, body_inertia(link))  # -1, the base, is the last
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
