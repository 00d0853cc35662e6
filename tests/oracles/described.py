"""Poses and inertias as a description writes them, from matrices and as matrices.

The oracles read descriptions by this and `oracles.joint_motion.origin`, not by robodyn.
"""

import math

import numpy as np

from robodyn.description import Inertia, Pose


def pose_from(X):
    """Description of a homogeneous matrix, whose turns are about x, then y, then z [URDF]."""
    R = X[:3, :3]
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    # with the yaw undone: a turn about y of one about x
    left = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    roll, pitch = math.atan2(-left[1, 2], left[1, 1]), math.atan2(-left[2, 0], left[0, 0])
    return Pose(tuple(float(x) for x in X[:3, 3]), (roll, pitch, yaw))


def inertia_matrix(inertia):
    """About the centre of mass, in the axes in which it is given, (3, 3)."""
    upper = np.zeros((3, 3))
    upper[np.triu_indices(3)] = [getattr(inertia, "i" + axes) for axes in _AXES]
    return upper + np.triu(upper, 1).T


def inertia_from(mass, com, J):
    """Description of arrays in axes of the link."""
    numbers = {"i" + axes: float(x) for axes, x in zip(_AXES, J[np.triu_indices(3)], strict=True)}
    return Inertia(mass, Pose(tuple(float(x) for x in com)), **numbers)


_AXES = ("xx", "xy", "xz", "yy", "yz", "zz")
