"""Joints that follow others linearly, and joints that are held at a position."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from robodyn.description import Joint, Mimic, Pose
from robodyn.description.couplings import leads_to
from robodyn.joints import fixed, joint_kind
from robodyn.joints.common.described import described_pose
from robodyn.tolerances import SAME_POSITION

__all__ = ["RelatedJoints"]


class RelatedJoints:
    """Joints to which relations are added, one after the other."""

    def __init__(self, joints: Iterable[Joint]) -> None:
        self._joints = {joint.name: joint for joint in joints}
        self._held: dict[str, float] = {}

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order in which they were given."""
        return tuple(self._joints.values())

    def relate(self, one: str, other: str, ratio: float, offset: float) -> str | None:
        """Demand ``q = ratio q' + offset`` of two joints; why it cannot be, or ``None``."""
        if one in self._held:
            return self.hold(other, (self._held[one] - offset) / ratio)
        if other in self._held:
            return self.hold(one, ratio * self._held[other] + offset)
        if self._follow(one, other, ratio, offset):
            return None
        if self._follow(other, one, 1.0 / ratio, -offset / ratio):
            return None
        return f"joints {one!r} and {other!r} follow others already, or each other in a circle"

    def hold(self, name: str, position: float) -> str | None:
        """Make a joint a fixed one, and all that are related to it; why it cannot be, or `None`."""
        if name in self._held:
            there = math.isclose(self._held[name], position, abs_tol=SAME_POSITION)
            return None if there else f"joint {name!r} is held at two positions"
        joint = self._joints[name]
        self._held[name] = position
        X = joint.origin.matrix @ described_pose(joint_kind(joint.kind), joint, (position,))
        self._joints[name] = Joint(
            name, fixed.KIND.name, joint.parent, joint.child, Pose.from_matrix(X)
        )
        if joint.mimic is not None:
            self.hold(joint.mimic.joint, (position - joint.mimic.offset) / joint.mimic.multiplier)
        for follower in self.joints:
            if follower.mimic is not None and follower.mimic.joint == name:
                self.hold(
                    follower.name, follower.mimic.multiplier * position + follower.mimic.offset
                )
        return None

    def _follow(self, name: str, master: str, ratio: float, offset: float) -> bool:
        """Let a joint follow another, if it follows none and the other does not follow it."""
        joint = self._joints[name]
        if joint.mimic is not None or leads_to(self._joints, master, name):
            return False
        self._joints[name] = dataclasses.replace(joint, mimic=Mimic(master, ratio, offset))
        return True
