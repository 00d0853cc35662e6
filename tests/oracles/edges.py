"""Joints as edges between links: those of a spanning tree, and those that close loops."""

import dataclasses
from dataclasses import dataclass, field

import numpy as np
from oracles.joint_motion import coordinate_count, origin, speed_count

from robodyn.description import Joint, Loop

WORLD = -1


@dataclass(frozen=True)
class Edge:
    """A joint, the numbers of its links, and where its own numbers stand.

    A joint of the tree has ``factor q[...] + offset``. One that closes a loop has no place in
    ``q``, and its speeds stand behind those of the tree. ``X_child`` is the joint's frame in the
    child link; ``backward``: the tree runs from the child to the parent.
    """

    joint: Joint
    parent: int
    child: int
    q: slice | None
    v: slice
    factor: float = 1.0
    offset: float = 0.0
    backward: bool = False
    X_child: np.ndarray = field(default_factory=lambda: np.eye(4))
    distance: float = 0.0


def tree_edges(mechanism, base, cut):
    """Edges of the tree without the joints in ``cut``, depth first from the root link.

    ``base`` is the joint that holds the root link. The links are numbered as they are reached;
    their names are the second result.
    """
    at = {link.name: [] for link in mechanism.links}
    for joint in mechanism.joints:
        if joint.name not in cut:
            at[joint.parent].append(joint)
            at[joint.child].append(joint)
    numbers, edges, nq, nv = {base.child: 0}, [], 0, 0

    def add(joint, parent, child, backward):
        nonlocal nq, nv
        own = joint.mimic is None
        q = slice(nq, nq + own * coordinate_count(joint.kind))
        v = slice(nv, nv + own * speed_count(joint.kind))
        nq, nv = q.stop, v.stop
        edges.append(Edge(joint, parent, child, q, v, backward=backward))

    def visit(link):
        for joint in at[link]:
            backward = joint.child == link
            reached = joint.parent if backward else joint.child
            if reached not in numbers:
                numbers[reached] = len(numbers)
                add(joint, numbers[joint.parent], numbers[joint.child], backward)
                visit(reached)

    add(base, WORLD, 0, False)
    visit(base.child)
    if len(numbers) < len(at):
        raise ValueError(f"no joints lead to {', '.join(at.keys() - numbers.keys())}")
    at_name = {edge.joint.name: edge for edge in edges}
    return [_following(edge, at_name) for edge in edges], list(numbers)


def closing_edges(mechanism, cut, names, nv):
    """Edges of cut joints and of loops; their speeds stand behind ``nv`` others."""
    joints = [
        (joint, np.eye(4), 0.0, speed_count(joint.kind))
        for joint in mechanism.joints
        if joint.name in cut
    ]
    edges = []
    for joint, X_child, distance, count in joints + [_as_joint(loop) for loop in mechanism.loops]:
        parent, child = names.index(joint.parent), names.index(joint.child)
        v = slice(nv, nv + count)
        edges.append(Edge(joint, parent, child, None, v, X_child=X_child, distance=distance))
        nv = v.stop
    return edges


def _as_joint(loop: Loop):
    joint = Joint(
        loop.name,
        loop.kind,
        loop.predecessor,
        loop.successor,
        loop.X_predecessor,
        loop.axis,
        loop.axis2,
        loop.pitch,
    )
    count = 5 if loop.kind == "distance" else speed_count(loop.kind)
    return joint, origin(loop.X_successor), loop.distance, count


def _following(edge, at):
    """A mimic joint stands where the master at the end of its chain does."""
    factor, offset, end = 1.0, 0.0, edge
    while (mimic := end.joint.mimic) is not None:
        factor, offset = factor * mimic.multiplier, offset + factor * mimic.offset
        end = at[mimic.joint]
    return dataclasses.replace(edge, q=end.q, v=end.v, factor=factor, offset=offset)
