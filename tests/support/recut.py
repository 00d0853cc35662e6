"""The same linkage, cut at another joint."""

import dataclasses

import numpy as np

from robodyn.description import Joint, Loop


def changed_joint(mechanism, name, **changes):
    """With something changed in a joint."""
    joints = tuple(
        dataclasses.replace(j, **changes) if j.name == name else j for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def cut_at(mechanism, name):
    """With a joint marked as the one to cut, as ``<joint cut="true">`` does."""
    (joint,) = (j for j in mechanism.joints if j.name == name)
    shared = {f.name for f in dataclasses.fields(Joint)} & {
        f.name for f in dataclasses.fields(Loop)
    }
    values = {key: getattr(joint, key) for key in shared}
    loop = Loop(
        predecessor=joint.parent, successor=joint.child, X_predecessor=joint.origin, **values
    )
    joints = tuple(j for j in mechanism.joints if j is not joint)
    return dataclasses.replace(mechanism, joints=joints, loops=(*mechanism.loops, loop))


def coordinates_of(robot, positions):
    """q of a robot, from positions of joints by name."""
    q = np.zeros(robot.nq)
    for name in robot.joint_names:
        q[robot.joints[name].q] = positions[name]
    return q


def speeds_of(robot, values):
    """Numbers over the speeds of a robot, from those of joints by name; else zero."""
    v = np.zeros(robot.nv)
    for name in robot.joint_names:
        v[robot.joints[name].v] = values.get(name, 0.0)
    return v
