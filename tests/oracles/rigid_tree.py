"""The spanning tree of a mechanism as other libraries take it: bodies, joints, pairs of frames.

Links that fixed joints hold are one body with the link they are fixed to, so that every body but
the ground has a joint with freedoms and a mass. Of robodyn only the description is read.
"""

from dataclasses import dataclass

import numpy as np
from oracles.cuts import cut_joints
from oracles.described import inertia_matrix
from oracles.edges import closing_edges, tree_edges
from oracles.joint_motion import origin

from robodyn.description import Joint

GROUND = -1


@dataclass(frozen=True)
class Body:
    """One rigid body; its frame is that of the joint that carries it.

    ``X`` is that frame in the body ``parent`` at zero position; ``inertia`` is about the centre of
    mass, in axes of the body. ``q``, ``v``: where the joint's numbers stand.
    """

    joint: Joint
    parent: int
    X: np.ndarray
    q: slice
    v: slice
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Closing:
    """A cut joint: from frame ``X1`` on one body to frame ``X2`` on another."""

    joint: Joint
    body1: int
    X1: np.ndarray
    body2: int
    X2: np.ndarray


@dataclass(frozen=True)
class RigidTree:
    """Bodies, parents before children; closings; where each link stands: body and pose in it."""

    bodies: list[Body]
    closings: list[Closing]
    places: dict[str, tuple[int, np.ndarray]]


def rigid_tree(mechanism):
    """Of a mechanism on a fixed base, cut as `cut_joints` says."""
    children = {joint.child for joint in mechanism.joints}
    (root,) = [link.name for link in mechanism.links if link.name not in children]
    cut = cut_joints(mechanism)
    edges, names = tree_edges(mechanism, Joint("base", "fixed", "world", root), cut)
    places, heads, parts = {root: (GROUND, np.eye(4))}, [], []
    inertias = {link.name: link.inertia for link in mechanism.links}
    for edge in edges[1:]:
        assert not edge.backward and edge.joint.mimic is None
        number, X = places[edge.joint.parent]
        X = X @ origin(edge.joint.origin)
        if edge.joint.kind != "fixed":
            heads.append((edge.joint, number, X, edge.q, edge.v))
            parts.append([])
            number, X = len(heads) - 1, np.eye(4)
        places[edge.joint.child] = (number, X)
        if number != GROUND and inertias[edge.joint.child] is not None:
            parts[number].append((inertias[edge.joint.child], X))
    bodies = [Body(*head, *_sum(own)) for head, own in zip(heads, parts, strict=True)]
    nv = max(edge.v.stop for edge in edges)
    closings = []
    for edge in closing_edges(mechanism, cut, names, nv):
        (body1, X1), (body2, X2) = places[edge.joint.parent], places[edge.joint.child]
        X1, X2 = X1 @ origin(edge.joint.origin), X2 @ edge.X_child
        closings.append(Closing(edge.joint, body1, X1, body2, X2))
    return RigidTree(bodies, closings, places)


def _sum(parts):
    """Mass, centre of mass and inertia of ``(inertia, X)`` together, in axes of the body."""
    frames = [(inertia, X @ origin(inertia.origin)) for inertia, X in parts]
    mass = sum(inertia.mass for inertia, _ in frames)
    com = sum(inertia.mass * X[:3, 3] for inertia, X in frames) / mass
    total = np.zeros((3, 3))
    for inertia, X in frames:
        r, R = X[:3, 3] - com, X[:3, :3]
        total += R @ inertia_matrix(inertia) @ R.T + inertia.mass * (
            r @ r * np.eye(3) - np.outer(r, r)
        )
    return mass, com, total
