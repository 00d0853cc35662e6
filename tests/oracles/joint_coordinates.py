"""The numbers of a joint from the pose that it has: the inverses of the maps in `joint_motion`."""

import numpy as np
from oracles.joint_motion import origin, shortest_turn_of_z, vee


def _angle(R, n):
    """Of a rotation about ``n``, in (-pi, pi]."""
    return np.arctan2(vee(R) @ n, 0.5 * (np.trace(R) - 1.0))


def _angle_between(x, y, n):
    """About ``n``, from the shadow of ``x`` on the plane across ``n`` to that of ``y``."""
    return np.arctan2(n @ np.cross(x, y), x @ y - (n @ x) * (n @ y))


def _quaternion(R):
    """Of a rotation matrix: the row of the largest part of q q' [Shepperd 1978]."""
    trace = np.trace(R)
    k = int(np.argmax([*np.diag(R), trace]))
    w = 2.0 * vee(R)
    if k == 3:
        quat = np.array([*w, 1.0 + trace])
    else:
        quat = np.array([*(R[k] + R[:, k]), w[k]])
        quat[k] = 1.0 + 2.0 * R[k, k] - trace
    return quat / np.linalg.norm(quat)


def _universal(joint, n, X):
    second, R = np.array(joint.axis2), X[:3, :3]
    return [_angle_between(second, R @ second, n), _angle_between(R.T @ n, n, second)]


def _planar(joint, n, X):
    return [*(shortest_turn_of_z(n)[:, :2].T @ X[:3, 3]), _angle(X[:3, :3], n)]


def _helical(joint, n, X):
    if joint.pitch == 0.0:
        return [_angle(X[:3, :3], n)]
    turns = n @ X[:3, 3] / joint.pitch  # counts whole turns too, but not as well
    angle = _angle(X[:3, :3], n)
    return [angle + 2.0 * np.pi * np.round((turns - angle) / (2.0 * np.pi))]


KINDS = {
    "fixed": lambda joint, n, X: [],
    "revolute": lambda joint, n, X: [_angle(X[:3, :3], n)],
    "continuous": lambda joint, n, X: [_angle(X[:3, :3], n)],
    "prismatic": lambda joint, n, X: [n @ X[:3, 3]],
    "helical": _helical,
    "cylindrical": lambda joint, n, X: [n @ X[:3, 3], _angle(X[:3, :3], n)],
    "universal": _universal,
    "planar": _planar,
    "spherical": lambda joint, n, X: _quaternion(X[:3, :3]),
    "floating": lambda joint, n, X: [*X[:3, 3], *_quaternion(X[:3, :3])],
}


def joint_coordinates(joint, X_PC):
    """Coordinates with which the child link stands at ``X_PC`` in the parent link.

    Where the joint cannot take that pose, those of some pose near it.
    """
    X = np.linalg.solve(origin(joint.origin), X_PC)
    return np.array(KINDS[joint.kind](joint, np.array(joint.axis), X), float)
