"""Spatial linkages with one freedom, of random geometry, closed at zero position."""

import dataclasses

import numpy as np
from support.random_mechanisms import random_inertia

from robodyn.description import Joint, Link, Loop, Mechanism, Pose


def some_pose(rng):
    return Pose(*(tuple(float(x) for x in row) for row in rng.normal(size=(2, 3))))


def some_axis(rng):
    x = rng.normal(size=3)
    return tuple(float(c) for c in x / np.linalg.norm(x))


def linkage(one, other, kind="spherical", seed=0):
    """A loop of two chains from the ground, of joints of the kinds given.

    The last of ``other`` is called ``driver`` and is independent.
    """
    rng = np.random.default_rng(seed)
    links, joints, ends = [Link("ground", random_inertia(rng))], [], []
    for side, kinds in (("one", one), ("other", other)):
        parent, X = "ground", np.eye(4)
        for n, joint_kind in enumerate(kinds):
            name = "driver" if side == "other" and n == len(kinds) - 1 else f"{side}{n}"
            link, origin = f"{name}_link", some_pose(rng)
            axes = some_axis(rng), some_axis(rng)
            joints.append(Joint(name, joint_kind, parent, link, origin, *axes,
                                independent=True if name == "driver" else None))  # fmt: skip
            links.append(Link(link, random_inertia(rng)))
            parent, X = link, X @ origin.matrix
        ends.append((parent, X))
    point = rng.normal(size=3)
    gap = 0.0
    if kind == "distance":
        gap = 1.7
        points = point, point + gap * np.array(some_axis(rng))
    else:
        points = point, point
    frames = [
        Pose(tuple(float(x) for x in X[:3, :3].T @ (p - X[:3, 3])), some_axis(rng))
        for p, (_, X) in zip(points, ends, strict=True)
    ]
    loop = Loop("loop", kind, ends[0][0], ends[1][0], *frames, distance=gap)
    return Mechanism("linkage", tuple(links), tuple(joints), (loop,))


def with_hinges(mechanism, name):
    """A universal joint as two joints that turn, with all frames away from where its axes meet."""
    (joint,) = (j for j in mechanism.joints if j.name == name)
    axis, axis2 = np.array(joint.axis), np.array(joint.axis2)
    beside, beyond = 0.3 * axis, 0.4 * axis2
    first = joint.origin.matrix.copy()
    first[:3, 3] += first[:3, :3] @ beside
    hinges = (
        dataclasses.replace(
            joint, name=f"{name}a", kind="revolute", child=f"{name}_cross",
            origin=Pose.from_matrix(first),
        ),
        dataclasses.replace(
            joint, name=f"{name}b", kind="revolute", parent=f"{name}_cross", axis=joint.axis2,
            origin=Pose(tuple(float(x) for x in beyond - beside)),
        ),
    )  # fmt: skip
    back = np.eye(4)
    back[:3, 3] = -beyond

    def moved(X):
        return Pose.from_matrix(back @ X.matrix)

    joints = []
    for other in mechanism.joints:
        if other.name == name:
            joints += hinges
        elif other.parent == joint.child:
            joints.append(dataclasses.replace(other, origin=moved(other.origin)))
        else:
            joints.append(other)
    (loop,) = mechanism.loops
    if loop.predecessor == joint.child:
        loop = dataclasses.replace(loop, X_predecessor=moved(loop.X_predecessor))
    cross = Link(f"{name}_cross", random_inertia(np.random.default_rng(9)))
    return dataclasses.replace(
        mechanism, links=(*mechanism.links, cross), joints=tuple(joints), loops=(loop,)
    )


def against_the_joint():
    """A rod between a crank and a slide whose universal joint has the rod as its parent."""
    rng = np.random.default_rng(4)
    names = ("ground", "crank", "block", "rod")
    X = {"ground": np.eye(4)} | {name: some_pose(rng).matrix for name in names[1:]}

    def joint(name, kind, parent, child, **given):
        origin = Pose.from_matrix(np.linalg.inv(X[parent]) @ X[child])
        return Joint(name, kind, parent, child, origin, some_axis(rng), some_axis(rng), **given)

    joints = (
        joint("driver", "revolute", "ground", "crank", independent=True),
        joint("slide", "prismatic", "ground", "block"),
        joint("ball", "spherical", "crank", "rod"),
        joint("cross", "universal", "rod", "block"),
    )
    links = tuple(Link(name, random_inertia(rng)) for name in names)
    return Mechanism("against", links, joints)
