"""The lines of a stick figure, and the marks of joints: where joints sit on links."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.joint import Loop, ends_of, poses_of
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
    marks = []
    for mover in mechanism.movers:
        kind, cut = joint_kind(mover.kind), isinstance(mover, Loop) or mover.name in closing
        before, after = (X.matrix for X in poses_of(mover))
        axis, ends = mover.axis if kind.axes else None, ends_of(mover)
        marks.append(JointMark(mover.name, kind, cut, *ends, before, after, axis))
    return tuple(marks)


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
