"""Poses of links, lines of the stick figure, and marks of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Loop
from robodyn.joints import joint_kind
from robodyn.joints.common.kind import JointKind
from robodyn.robot import Robot

__all__ = ["JointMark", "extent", "joint_marks", "link_places", "sticks", "wxyz"]


@dataclass(frozen=True, eq=False)
class JointMark:
    """The mark of a joint.

    Attributes
    ----------
    name : str
    kind : JointKind
    cut : bool
        It closes a loop.
    predecessor, successor : str
        Links that it joins.
    X_predecessor, X_successor : ndarray, shape (4, 4) [1, m]
        The joint frame on each; where they meet, a loop is closed.
    axis : (3,) or None
        In joint axes, of a joint that has one.
    """

    name: str
    kind: JointKind
    cut: bool
    predecessor: str
    successor: str
    X_predecessor: FloatArray
    X_successor: FloatArray
    axis: tuple[float, float, float] | None


def joint_marks(robot: Robot) -> tuple[JointMark, ...]:
    """Marks of all joints, including those that close loops."""
    joints = robot.mechanism.joints
    marks = [_joint_mark(joint, bool(robot.joints[joint.name].closure)) for joint in joints]
    return (*marks, *(_loop_mark(loop) for loop in robot.mechanism.loops))


def _joint_mark(joint: Joint, cut: bool) -> JointMark:
    kind = joint_kind(joint.kind)
    axis = joint.axis if kind.axes else None
    X = joint.origin.matrix
    return JointMark(joint.name, kind, cut, joint.parent, joint.child, X, np.eye(4), axis)


def _loop_mark(loop: Loop) -> JointMark:
    kind = joint_kind(loop.kind)
    return JointMark(
        loop.name,
        kind,
        True,
        loop.predecessor,
        loop.successor,
        loop.X_predecessor.matrix,
        loop.X_successor.matrix,
        loop.axis if kind.axes else None,
    )


def link_places(robot: Robot, q: FloatArray) -> dict[str, FloatArray]:
    """Pose of each link in the world, shape (4, 4) [1, m], by its name."""
    return {name: robot.frame_pose(q, name) for name in robot.link_names}


def sticks(robot: Robot) -> dict[str, FloatArray]:
    """Lines of a stick figure, shape (n, 2, 3) [m] in link axes, by link name.

    A link is drawn as lines from its origin to the joints that it carries.
    """
    ends: dict[str, list[FloatArray]] = {name: [] for name in robot.link_names}
    for mark in joint_marks(robot):
        ends[mark.predecessor].append(mark.X_predecessor[:3, 3])
        ends[mark.successor].append(mark.X_successor[:3, 3])
    lines = {}
    for name, points in ends.items():
        away = [point for point in points if np.linalg.norm(point) > 1e-9]
        lines[name] = np.array([[np.zeros(3), point] for point in away]).reshape(-1, 2, 3)
    return lines


def extent(robot: Robot, places: dict[str, FloatArray]) -> tuple[FloatArray, float]:
    """Centre, shape (3,) [m], and largest edge [m] of the box around joints and links."""
    points = [X[:3, 3] for X in places.values()]
    for name, lines in sticks(robot).items():
        X = places[name]
        points += list(lines.reshape(-1, 3) @ X[:3, :3].T + X[:3, 3])
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), 1e-2)


def wxyz(X: FloatArray) -> FloatArray:
    """The orientation of a pose, shape (4, 4), as the quaternion (w, x, y, z) of viser."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat()
    return np.array([w, x, y, z])
