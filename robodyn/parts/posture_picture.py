"""Stick figure of a robot in a posture: links, joints, and the forces in joints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.description import Mechanism
from robodyn.description.stick_figure import JointMark, joint_marks
from robodyn.errors import ShapeError
from robodyn.joints import fixed
from robodyn.pictures.stick_figure import Arrow, Dot, Gap, StickFigure
from robodyn.results import LoopGap
from robodyn.tolerances import LOOP_GAP_SHOWN, PLANAR


@dataclass(frozen=True, eq=False)
class _Body:
    """Links that are welded together: their joints and ends, as (link, point in the link)."""

    joints: tuple[tuple[str, FloatArray], ...]
    ends: tuple[tuple[str, FloatArray], ...]

    def corners(self, places: Mapping[str, FloatArray]) -> FloatArray:
        """Joints of the body, and its farthest end if that is farther out, shape (n, 3) [m]."""
        points = np.array([_moved(places[link], x) for link, x in self.joints])
        _, first = np.unique(points.round(9), axis=0, return_index=True)
        points = points[np.sort(first)]
        if not self.ends:
            return points
        ends = np.array([_moved(places[link], x) for link, x in self.ends])
        away, reach = (np.linalg.norm(x - points.mean(axis=0), axis=1) for x in (ends, points))
        return np.vstack([points, ends[away.argmax()]]) if away.max() > reach.max() else points


def _bodies(mechanism: Mechanism, marks: tuple[JointMark, ...], root: str) -> tuple[_Body, ...]:
    """Links that fixed joints weld together; the body of the root comes first."""
    of = {link.name: {link.name} for link in mechanism.links}
    welds = [mark for mark in marks if mark.kind is fixed.KIND and not mark.cut]
    for mark in welds:
        one = of[mark.predecessor] | of[mark.successor]
        of |= dict.fromkeys(one, one)
    places: dict[str, list[tuple[str, FloatArray]]] = {link: [] for link in of}
    places[root].append((root, np.zeros(3)))
    for mark in marks:
        if mark not in welds:
            places[mark.successor].insert(0, (mark.successor, mark.X_successor[:3, 3]))
            places[mark.predecessor].append((mark.predecessor, mark.X_predecessor[:3, 3]))
            if mark.slides:  # a part that slides reaches back to its guide
                places[mark.successor].append((mark.predecessor, mark.X_predecessor[:3, 3]))
    ends = {link.name: [(link.name, np.zeros(3))] for link in mechanism.links}
    for link in mechanism.links:
        if link.inertia:
            ends[link.name].append((link.name, link.inertia.origin.matrix[:3, 3]))
    names = dict.fromkeys(frozenset(of[link]) for link in (root, *of))
    bodies = [
        _Body(
            tuple(x for link in of if link in links for x in places[link]),
            () if root in links else tuple(x for link in of if link in links for x in ends[link]),
        )
        for links in names
    ]
    return tuple(body for body in bodies if body.joints)


class PosturePicture:
    """Makes stick figures of a robot.

    robot: A `Robot`, of which the description, names of links, joints and motors, and the base are
        seen.
    """

    def __init__(self, robot: Any) -> None:
        closing = [name for name, joint in robot.joints.items() if joint.closure]
        self._marks = joint_marks(robot.mechanism, closing)
        self._motors, self._root = frozenset(robot.actuated_joints), robot.link_names[0]
        self._bodies = _bodies(robot.mechanism, self._marks, self._root)
        self._base = "ground" if robot.base == "fixed" else "base"

    def figure(
        self,
        places: Mapping[str, FloatArray],
        wrenches: Mapping[str, Array] | None = None,
        opened: Collection[str] = (),
        *,
        frames: bool = False,
    ) -> StickFigure:
        """The stick figure; see `Robot.plot`.

        places (4, 4) [1, m]: Poses of the links in the world.
        wrenches (6,) [N, N m], optional: Wrenches in joints, in axes of the world.
        opened: Names of the cut joints whose loops are open.
        frames: Draw the frames of the joints.
        """
        bodies = tuple(body.corners(places) for body in self._bodies)
        dots = [
            Dot(mark.name, self._role(mark), _place(mark, places))
            for mark in self._marks
            if mark.kind is not fixed.KIND or mark.cut
        ]
        dots.append(Dot("", self._base, places[self._root][:3, 3]))
        arrows = () if wrenches is None else tuple(self._arrows(wrenches, places))
        cut = {mark.name: _both_ends(mark, places) for mark in self._marks if mark.cut}
        gaps = [_gap(mark, cut[mark.name]) for mark in self._marks if mark.name in opened]
        shown = [places[mark.successor] @ mark.X_successor for mark in self._marks]
        shown += [before for before, _ in cut.values()]
        return StickFigure(
            bodies, tuple(dots), arrows, tuple(gaps), tuple(shown) if frames else (),
            self._normal(places),
        )  # fmt: skip

    def _role(self, mark: JointMark) -> str:
        if mark.name in self._motors:
            return "motor"
        return "closing" if mark.cut else "passive"

    def _arrows(
        self, wrenches: Mapping[str, Array], places: Mapping[str, FloatArray]
    ) -> list[Arrow]:
        marks = {mark.name: mark for mark in self._marks}
        found = {name: wrenches[name] for name in wrenches if name in marks}
        for wrench in found.values():
            if wrench.size != 6:
                raise ShapeError(
                    "those of one posture are drawn", name="wrenches", given=wrench.shape
                )
        return [Arrow(_place(marks[name], places), x.reshape(6)[:3]) for name, x in found.items()]

    def _normal(self, places: Mapping[str, FloatArray]) -> FloatArray | None:
        """Normal of the plane of motion; ``None`` if the mechanism is not planar."""
        axes = [
            (places[mark.predecessor] @ mark.X_predecessor)[:3, :3] @ np.array(mark.axis)
            for mark in self._marks
            if mark.axis is not None and mark.kind.unit(0) == "rad"
        ]
        if not axes or any(mark.axis is None and mark.kind.nv for mark in self._marks):
            return None
        normal: FloatArray = np.asarray(axes[0]) / np.linalg.norm(axes[0])
        for mark in self._marks:
            if mark.axis is None:
                continue
            axis = (places[mark.predecessor] @ mark.X_predecessor)[:3, :3] @ np.array(mark.axis)
            along = abs(float(normal @ axis)) / float(np.linalg.norm(axis))
            if abs(along - (mark.kind.unit(0) == "rad")) > PLANAR:
                return None
        return normal


def _both_ends(mark: JointMark, places: Mapping[str, FloatArray]) -> FloatArray:
    """Poses in the world of a joint's frame on both of its links, shape (2, 4, 4)."""
    before = places[mark.predecessor] @ mark.X_predecessor
    return np.stack([before, places[mark.successor] @ mark.X_successor])


def _gap(mark: JointMark, ends: FloatArray) -> Gap:
    """Distance and tilt of an open loop, without the rotation that its joint leaves free."""
    gap = LoopGap(
        mark.name, mark.kind.name, (mark.predecessor, mark.successor), ends, 0.0, mark.axis
    )
    tilt = gap.tilt or 0.0
    tilted = f", tilted by {np.degrees(tilt):.3g}°" if tilt > LOOP_GAP_SHOWN else ""
    return Gap(ends[:, :3, 3], f"open by {gap.distance:.3g} m{tilted}")


def _moved(X: FloatArray, point: FloatArray) -> FloatArray:
    return np.asarray(X[:3, :3] @ point + X[:3, 3])


def _place(mark: JointMark, places: Mapping[str, FloatArray]) -> FloatArray:
    """Position in the world of a joint's frame on its predecessor, shape (3,) [m]."""
    return (places[mark.predecessor] @ mark.X_predecessor)[:3, 3]
