"""Planar linkages for every way two joints of a loop can follow the others; turned at will."""

import dataclasses

import numpy as np
from support.random_mechanisms import random_inertia

from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose

Y, X, Z = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def at(x, z):
    return Pose((float(x), 0.0, float(z)))


def linkage(name, joints, loop, seed=0):
    """Joints (name, kind, parent, child, origin, axis) and the pin that closes the loop."""
    rng = np.random.default_rng(seed)
    names = ["ground", *(joint[3] for joint in joints)]
    links = tuple(Link(link, random_inertia(rng)) for link in names)
    pin = Loop("pin", "revolute", *loop, Y)
    return Mechanism(name, links, tuple(Joint(*joint) for joint in joints), (pin,))


def crank_and_slider():
    """Crank, rod on the slider, so that slide and rod pin are in one chain."""
    joints = (
        ("crank", "revolute", "ground", "crank_link", Pose(), Y),
        ("slide", "prismatic", "ground", "block", at(0.9, 0.1), X),
        ("rod_pin", "revolute", "block", "rod", Pose(), Y),
    )
    return linkage("crank_and_slider", joints, ("crank_link", "rod", at(0.1, 0.3), at(-0.8, 0.2)))


def swinging_block():
    """A rod slides in a crank, its end is carried by a slide."""
    joints = (
        ("crank", "revolute", "ground", "crank_link", Pose(), Y),
        ("rod_slide", "prismatic", "crank_link", "rod", at(0.1, 0.3), (0.6, 0.0, 0.8)),
        ("slide", "prismatic", "ground", "block", at(0.2, 0.6), X),
    )
    return linkage("swinging_block", joints, ("rod", "block", at(0.2, 0.1), at(0.1, -0.2)))


def yoke():
    """A crank pin on a cross slide."""
    joints = (
        ("crank", "revolute", "ground", "crank_link", Pose(), Y),
        ("slide", "prismatic", "ground", "frame", at(0.0, 0.1), X),
        ("cross_slide", "prismatic", "frame", "block", at(0.2, 0.1), (0.28, 0.0, 0.96)),
    )
    return linkage("yoke", joints, ("crank_link", "block", at(0.2, 0.3), at(0.0, 0.1)))


def four_bar():
    """All frames parallel at zero, one axis the other way round."""
    joints = (
        ("crank", "revolute", "ground", "crank_link", Pose(), Y),
        ("crank_pin", "continuous", "crank_link", "coupler", at(0.1, 0.2), (0.0, -1.0, 0.0)),
        ("rocker", "revolute", "ground", "rocker_link", at(0.7, 0.0), Y),
    )
    return linkage("four_bar", joints, ("coupler", "rocker_link", at(0.5, 0.3), at(-0.1, 0.5)))


def with_independent(mechanism, *names):
    joints = tuple(
        dataclasses.replace(joint, independent=True if joint.name in names else None)
        for joint in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def reframed(mechanism, rng):
    """The same mechanism with other frames in its links; those of joints stay on their axes.

    Returns
    -------
    mechanism : Mechanism
    frames : dict of link name to ndarray, shape (4, 4)
        New link frame in the old one.
    """
    axis = {}
    for joint in mechanism.joints:
        if joint.kind in ("revolute", "continuous", "prismatic"):
            axis.setdefault(joint.child, np.array(joint.axis))
        elif joint.kind != "fixed":  # the joint has a centre
            axis[joint.child] = np.zeros(3)
    Y_L = {}
    for link in mechanism.links:
        Y_L[link.name] = Pose((0.0, 0.0, 0.0), tuple(rng.normal(size=3))).matrix
        Y_L[link.name][:3, 3] = 0.3 * rng.normal() * axis.get(link.name, np.zeros(3))
    links = tuple(
        dataclasses.replace(link, inertia=_moved(link.inertia, Y_L[link.name]))
        for link in mechanism.links
    )

    def seen(link, X):
        return Pose.from_matrix(np.linalg.inv(Y_L[link]) @ X)

    joints = tuple(
        dataclasses.replace(
            joint,
            origin=seen(joint.parent, joint.origin.matrix @ Y_L[joint.child]),
            axis=tuple(float(x) for x in Y_L[joint.child][:3, :3].T @ joint.axis),
            axis2=tuple(float(x) for x in Y_L[joint.child][:3, :3].T @ joint.axis2),
        )
        for joint in mechanism.joints
    )
    loops = []
    for loop in mechanism.loops:
        turn = Pose((0.0, 0.0, 0.0), tuple(rng.normal(size=3))).matrix
        loops.append(
            dataclasses.replace(
                loop,
                X_predecessor=seen(loop.predecessor, loop.X_predecessor.matrix @ turn),
                X_successor=seen(loop.successor, loop.X_successor.matrix @ turn),
                axis=tuple(float(x) for x in turn[:3, :3].T @ loop.axis),
            )
        )
    changed = dataclasses.replace(mechanism, links=links, joints=joints, loops=tuple(loops))
    return changed, Y_L


def _moved(inertia, X):
    if inertia is None:
        return None
    R, p = X[:3, :3], X[:3, 3]
    own = inertia.origin.matrix[:3, :3]
    com = R.T @ (np.array(inertia.origin.xyz) - p)
    return Inertia.from_matrix(inertia.mass, com, R.T @ own @ inertia.matrix @ own.T @ R)


def steering():
    """A rack moves two tie rods, which turn the knuckles of two wheels about upright pins."""
    names = ("ground", "rack_bar", "left_wheel", "right_wheel", "left_tie", "right_tie")
    rng = np.random.default_rng(7)
    links = tuple(Link(name, random_inertia(rng)) for name in names)
    joints = [Joint("rack", "prismatic", "ground", "rack_bar", at(0.0, 0.0), Y)]
    loops = []
    for side, y in (("left", 1.0), ("right", -1.0)):
        kingpin, end = Pose((0.2, 0.7 * y, 0.1)), Pose((0.0, 0.35 * y, 0.0))
        joints.append(Joint(f"{side}_kingpin", "revolute", "ground", f"{side}_wheel", kingpin, Z))
        joints.append(Joint(f"{side}_rod_end", "revolute", "rack_bar", f"{side}_tie", end, Z))
        ends = Pose((0.03, 0.32 * y, 0.1)), Pose((-0.17, -0.03 * y, 0.0))
        loops.append(Loop(f"{side}_arm", "spherical", f"{side}_tie", f"{side}_wheel", *ends))
    return Mechanism("steering", links, tuple(joints), tuple(loops))


#: Of each bar of `flat_bars`.
BODY = Inertia(1.0, Pose((0.1, 0.0, 0.02)), ixx=0.01, iyy=0.01, izz=0.01)


def flat_bars(lengths, at=1.0, name="bars", **closure):
    """A four-bar that is flat where its crank is at an angle, 1 rad away from where it is at zero.

    Lengths of crank, ground, coupler and rocker; all frames are parallel at zero.
    """
    crank, ground, coupler, rocker = lengths
    places = {
        "drive": ("ground", "crank", Pose(rpy=(0.0, -at, 0.0))),
        "pin": ("crank", "coupler", Pose((crank, 0.0, 0.0), (0.0, at, 0.0))),
        "pivot": ("ground", "rocker", Pose((ground, 0.0, 0.0), (0.0, -at, 0.0))),
    }
    joints = tuple(Joint(x, "continuous", *place, axis=Y) for x, place in places.items())
    links = (Link("ground"), *(Link(link, BODY) for link in ("crank", "coupler", "rocker")))
    ends = Pose((coupler, 0.0, 0.0)), Pose((rocker, 0.0, 0.0))
    loop = dataclasses.replace(Loop("end", "revolute", "coupler", "rocker", *ends, Y), **closure)
    return Mechanism(name, links, joints, loops=(loop,))
