"""Poses of links, marks of joints, and the size of a robot in the viewer."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.stick_figure import JointMark, joint_marks, sticks
from robodyn.robot import Robot

__all__ = ["extent", "link_places", "marks_of", "wxyz"]


def marks_of(robot: Robot) -> tuple[JointMark, ...]:
    """Marks of all joints, including those that close loops."""
    closing = [name for name, joint in robot.joints.items() if joint.closure]
    return joint_marks(robot.mechanism, closing)


def link_places(robot: Robot, q: FloatArray) -> dict[str, FloatArray]:
    """Pose of each link in the world, shape (4, 4) [1, m], by its name."""
    return {name: robot.frame_pose(q, name) for name in robot.link_names}


def extent(robot: Robot, places: dict[str, FloatArray]) -> tuple[FloatArray, float]:
    """Centre, shape (3,) [m], and largest edge [m] of the box around joints and links."""
    points = [X[:3, 3] for X in places.values()]
    for name, lines in sticks(robot.mechanism).items():
        X = places[name]
        points += list(lines.reshape(-1, 3) @ X[:3, :3].T + X[:3, 3])
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), 1e-2)


def wxyz(X: FloatArray) -> FloatArray:
    """The orientation of a pose, shape (4, 4), as the quaternion (w, x, y, z) of viser."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat()
    return np.array([w, x, y, z])
