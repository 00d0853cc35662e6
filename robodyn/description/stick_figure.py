"""The lines of a stick figure, and the marks of joints: where joints sit on links."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.joint import Joint
from robodyn.description.loop import Loop
from robodyn.description.mechanism import Mechanism
from robodyn.joints import joint_kind
from robodyn.joints.common.kind import JointKind


@dataclass(frozen=True, eq=False)
class JointMark:
    """The mark of a joint.

    cut: It closes a loop.
    predecessor, successor: Links that it joins.
    X_predecessor, X_successor (4, 4) [1, m]: The joint frame on each; where they meet, a loop is
        closed.
    axis: In joint axes, of a joint that has one.
    """

    name: str
    kind: JointKind
    cut: bool
    predecessor: str
    successor: str
    X_predecessor: FloatArray
    X_successor: FloatArray
    axis: tuple[float, float, float] | None

    @property
    def slides(self) -> bool:
        """Whether it moves its link along an axis."""
        return self.axis is not None and self.kind.nv == 1 and self.kind.unit(0) == "m"


def joint_marks(mechanism: Mechanism, closing: Container[str] = ()) -> tuple[JointMark, ...]:
    """Marks of all joints, including those that close loops.

    closing: Those besides ``mechanism.loops`` that are cut to make a tree.
    """
    marks = [_joint_mark(joint, joint.name in closing) for joint in mechanism.joints]
    return (*marks, *(_loop_mark(loop) for loop in mechanism.loops))


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


def sticks(mechanism: Mechanism) -> dict[str, FloatArray]:
    """Lines of a stick figure, shape (n, 2, 3) [m] in link axes, by link name.

    A link is drawn as lines from its origin to the joints that it carries.
    """
    ends: dict[str, list[FloatArray]] = {link.name: [] for link in mechanism.links}
    for mark in joint_marks(mechanism):
        ends[mark.predecessor].append(mark.X_predecessor[:3, 3])
        ends[mark.successor].append(mark.X_successor[:3, 3])
    lines = {}
    for name, points in ends.items():
        away = [point for point in points if np.linalg.norm(point) > 1e-9]
        lines[name] = np.array([[np.zeros(3), point] for point in away]).reshape(-1, 2, 3)
    return lines
