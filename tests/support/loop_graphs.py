"""Random trees with loops that are closed at a random state, whatever their kind."""

import dataclasses

import numpy as np
from oracles.described import pose_from
from oracles.joint_motion import coordinate_count, joint_motion, origin
from oracles.maximal import MaximalOracle
from oracles.relations import closing_state
from support.random_mechanisms import random_mechanism

from robodyn.description import Joint, Link, Loop, Pose

LOOP_KINDS = (
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "fixed",
    "distance",
)


def unit(rng):
    x = rng.normal(size=3)
    return tuple(float(c) for c in x / np.linalg.norm(x))


def random_pose(rng):
    return Pose(*(tuple(float(x) for x in row) for row in rng.normal(size=(2, 3))))


def posture(oracle, rng):
    """Random coordinates of an oracle, with quaternions of length one."""
    q = rng.normal(size=oracle.nq)
    for edge in oracle.edges:
        if edge.joint.kind in ("spherical", "floating"):
            last = slice(edge.q.stop - 4, edge.q.stop)
            q[last] /= np.linalg.norm(q[last])
    return q


def tree_and_posture(rng, kinds, base="fixed"):
    """A random tree, its poses by link at a random posture, and that posture."""
    tree = random_mechanism(rng, kinds)
    oracle = MaximalOracle(tree, base=base)
    q = posture(oracle, rng)
    motions = oracle.motions(q, np.zeros(oracle.nv))[1]
    return tree, {n: m.X for n, m in zip(oracle.names, motions, strict=True)}, q


def closing_loop(rng, name, kind, ends, poses, frame=None, axis=None):
    """A loop of any kind between two links that is closed in the given poses.

    The frame on the predecessor and its axis are anywhere if they are not given, so are the joint's
    own coordinates; the frame on the successor is where they lead.
    """
    predecessor, successor = ends
    X_P, axis, axis2 = frame or random_pose(rng), axis or unit(rng), unit(rng)
    pitch = float(rng.normal())
    loop = Loop(name, kind, predecessor, successor, X_P, Pose(), axis, axis2, pitch)
    X_SP = np.linalg.inv(poses[successor]) @ poses[predecessor]
    if kind == "distance":
        point = rng.normal(size=3)
        foot = (X_SP @ origin(X_P))[:3, 3]
        X_S = Pose(tuple(float(x) for x in point))
        return dataclasses.replace(
            loop, X_successor=X_S, distance=float(np.linalg.norm(foot - point))
        )
    joint = Joint(name, kind, predecessor, successor, X_P, axis, axis2, pitch)
    q = rng.normal(size=coordinate_count(kind))
    if kind == "spherical":
        q /= np.linalg.norm(q)
    nothing = np.zeros(6)
    X_PG = joint_motion(joint, q, nothing, nothing).X
    return dataclasses.replace(loop, X_successor=pose_from(X_SP @ X_PG))


def with_loops_as_joints(mechanism):
    """The same, each loop written as a joint to a link without mass on the successor."""
    links, joints = list(mechanism.links), list(mechanism.joints)
    for loop in mechanism.loops:
        frame = f"{loop.name}_frame"
        links.append(Link(frame))
        joints.append(Joint(f"{frame}_fixed", "fixed", loop.successor, frame, loop.X_successor))
        ends = (loop.predecessor, frame, loop.X_predecessor)
        joints.append(Joint(loop.name, loop.kind, *ends, loop.axis, loop.axis2, loop.pitch))
    return dataclasses.replace(mechanism, links=tuple(links), joints=tuple(joints), loops=())


def numbers_of(oracle, motions):
    """State in which all links move as given by name."""
    ordered = [motions[name] for name in oracle.names]
    q, v = np.zeros(oracle.nq), np.zeros(oracle.nv)
    for edge in oracle.edges[1:]:
        q[edge.q], v[edge.v] = closing_state(edge, ordered)
    return q, v
