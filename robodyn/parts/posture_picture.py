"""A picture of a posture: links, joints, and the forces in them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.description import Mechanism
from robodyn.description.stick_figure import JointMark, joint_marks, sticks
from robodyn.joints import fixed
from robodyn.model.joint_info import Joints
from robodyn.pictures.stick_figure import Arrow, Dot, StickFigure, draw_figure
from robodyn.results import JointWrenches
from robodyn.tolerances import PLANAR

__all__ = ["PosturePicture"]


class PosturePicture:
    """Draws a robot of known geometry.

    Parameters
    ----------
    mechanism : Mechanism
    joints : Joints
    motors : names of joints
        Those with motors.
    base : str
        The root link.
    """

    def __init__(
        self, mechanism: Mechanism, joints: Joints, motors: Collection[str], base: str
    ) -> None:
        closing = [name for name, joint in joints.items() if joint.closure]
        self._marks = joint_marks(mechanism, closing)
        self._sticks = sticks(mechanism)
        self._centers = {
            link.name: link.inertia.origin.matrix[:3, 3] for link in mechanism.links if link.inertia
        }
        self._motors, self._base, self._name = frozenset(motors), base, mechanism.name

    def draw(
        self,
        places: Mapping[str, FloatArray],
        wrenches: JointWrenches | None,
        path: str | os.PathLike[str] | None,
        axes: Any,
    ) -> Any:
        """Draw links at these poses, shape (4, 4) in the world; see `Robot.plot`."""
        links = tuple(self._lines(name, X) for name, X in places.items())
        dots = [
            Dot(mark.name, self._role(mark), _place(mark, places))
            for mark in self._marks
            if mark.kind is not fixed.KIND or mark.cut
        ]
        dots.append(Dot("", "base", places[self._base][:3, 3]))
        arrows = () if wrenches is None else tuple(self._arrows(wrenches, places))
        drawn = StickFigure(links, tuple(dots), arrows, self._plane(places))
        return draw_figure(path, drawn, axes=axes, title=self._name)

    def _lines(self, name: str, X: FloatArray) -> FloatArray:
        """Of a link; the last one of a chain is drawn to its centre of mass."""
        lines = self._sticks[name]
        if not len(lines) and name in self._centers and name != self._base:
            lines = np.array([[np.zeros(3), self._centers[name]]])
        return lines @ X[:3, :3].T + X[:3, 3]

    def _role(self, mark: JointMark) -> str:
        if mark.name in self._motors:
            return "motor"
        return "closing" if mark.cut else "passive"

    def _arrows(self, wrenches: JointWrenches, places: Mapping[str, FloatArray]) -> list[Arrow]:
        marks = {mark.name: mark for mark in self._marks}
        world = wrenches.in_frame("world")
        found: dict[str, Array] = {name: world[name] for name in world if name in marks}
        return [Arrow(_place(marks[name], places), x[:3]) for name, x in found.items()]

    def _plane(self, places: Mapping[str, FloatArray]) -> FloatArray | None:
        """Axes to the right and up, where all hinges have parallel axes and no link leaves."""
        axes = [
            (places[mark.predecessor] @ mark.X_predecessor)[:3, :3] @ np.array(mark.axis)
            for mark in self._marks
            if mark.axis is not None and mark.kind.unit(0) == "rad"
        ]
        if not axes or any(mark.axis is None and mark.kind.nv for mark in self._marks):
            return None
        normal = np.asarray(axes[0]) / np.linalg.norm(axes[0])
        for mark in self._marks:
            if mark.axis is None:
                continue
            axis = (places[mark.predecessor] @ mark.X_predecessor)[:3, :3] @ np.array(mark.axis)
            along = abs(float(normal @ axis)) / float(np.linalg.norm(axis))
            if abs(along - (mark.kind.unit(0) == "rad")) > PLANAR:
                return None
        return _right_and_up(normal)


def _right_and_up(normal: FloatArray) -> FloatArray:
    """Axes in the plane across a normal: up as near to z as may be, right towards x or y."""
    up = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    up = up - (up @ normal) * normal
    up /= np.linalg.norm(up)
    right = np.cross(up, normal)
    right = right if right[int(np.abs(right).argmax())] > 0.0 else -right
    return np.stack([right, up])


def _place(mark: JointMark, places: Mapping[str, FloatArray]) -> FloatArray:
    """Where a joint sits on the link that it moves."""
    return (places[mark.predecessor] @ mark.X_predecessor)[:3, 3]
