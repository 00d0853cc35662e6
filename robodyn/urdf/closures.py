"""Readers of all notations of closed loops and couplings, to ``Loop`` and ``Coupling``.

URDF+ ``<loop>`` and ``<coupling>``, the ``<constraint>`` proposed for ROS, ``<loop_joint>`` of
Drake, Isaac and CAD exporters, SDF joints in ``<gazebo>``, Drake's point and distance constraints,
and a ``<joint>`` with ``cut="true"``. A tag that looks like a closure and is none of these is a
problem: dropped, it would leave another mechanism.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.description import Coupling, Joint, Link, Loop, Pose, Vector
from robodyn.description.joint import with_constants
from robodyn.errors import UnknownNameError
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.common.drake_closures import read_drake_closure
from robodyn.urdf.common.joint_values import (
    LOOP_WORDS,
    limits_of_loop,
    read_axes,
    read_constants,
    read_dynamics,
    read_limits,
)
from robodyn.urdf.common.reader import Reader, in_line
from robodyn.urdf.common.spelling import LOOKS_LIKE_CLOSURE
from robodyn.urdf.common.xml import Element, line_of, local_name

if TYPE_CHECKING:
    from robodyn.urdf.gazebo_joints import GazeboJoints


_X = (1.0, 0.0, 0.0)
_Y = (0.0, 1.0, 0.0)

#: Elements that name the links of a loop; those after the first are known misspellings.
_ENDS = ("predecessor",), ("successor", "sucessor")
_PARTS = ("parent",), ("child",)
_SIDES = {
    "loop": _ENDS,
    "joint": _PARTS,
    "drake:joint": _PARTS,
    "loop_joint": (("link1",), ("link2",)),
}


class Closures:
    """Reads the elements that close loops."""

    def __init__(
        self, reader: Reader, links: Mapping[str, Link], joints: tuple[Joint, ...]
    ) -> None:
        self.reader = reader
        self.links = links
        self.joints = joints
        self.loops: list[Loop] = []
        self.couplings: list[Coupling] = []
        self._lines: dict[str, int | None] = {joint.name: joint.line for joint in joints}
        self._gazebo: GazeboJoints | None = None

    def read(self, element: Element) -> bool:
        """Read one child of ``<robot>``; false if it has nothing to do with closures."""
        tag = local_name(element)
        match tag:
            case "loop" | "joint" | "drake:joint":  # a joint with cut="true"
                self._add(element, self._read_loop(element, tag))
            case "loop_joint" if element.find("parent") is None:
                self._add(element, self._read_loop(element, tag))
            case "constraint" | "loop_joint":
                self._add(element, self._read_constraint(element))
            case "coupling":
                self._add(element, self._read_coupling(element))
            case "drake:ball_constraint" | "drake:distance_constraint":
                name = f"{tag.removeprefix('drake:')}_{len(self.loops) + 1}"
                self._add(element, read_drake_closure(self.reader, element, name))
            case "gazebo" if element.get("reference") is None:
                return self._read_gazebo(element)
            case "mujoco" if (equality := element.find("equality")) is not None:
                self._not_understood(equality)
            case _ if LOOKS_LIKE_CLOSURE.search(tag):
                self._not_understood(element)
            case _:
                return False
        return True

    def _not_understood(self, element: Element) -> None:
        self.reader.left_out(
            element,
            f"<{local_name(element)}> looks like the closure of a loop and is not understood; "
            "write it as <loop>, <coupling> or a <joint> whose child already has a parent, or "
            "remove it",
            lost=True,
        )

    def _add(self, element: Element, closure: Loop | Coupling | None) -> None:
        if closure is None:
            return
        if closure.name in self._lines:
            self.reader.left_out(
                element,
                f"the name {closure.name!r} is taken by the element "
                f"{in_line(self._lines[closure.name])}; rename one",
                lost=True,
            )
            return
        self._lines[closure.name] = line_of(element)
        if isinstance(closure, Loop):
            self.loops.append(closure)
        else:
            self.couplings.append(closure)

    def _kind_of(self, element: Element, ending: str = "") -> JointKind | None:
        word = self.reader.name(element, "type")
        if word is None:
            return None
        word = word.removesuffix(ending)
        if word not in LOOP_WORDS:
            hint = UnknownNameError("loop type", word, LOOP_WORDS)
            self.reader.left_out(element, hint, lost=True)
            return None
        return LOOP_WORDS[word]

    def _link_of(self, element: Element, *tags: str) -> tuple[Element | None, str | None]:
        """Find the child that names a link, and the link; later tags are known misspellings."""
        for tag in tags:
            child = self.reader.only(element, tag)
            if child is not None:
                attribute = "name" if child.get("link") is None and child.get("name") else "link"
                return child, self.reader.name(child, attribute)
        missing = f'has no <{tags[0]} link="..."/>'
        self.reader.left_out(element, missing, lost=True)
        return None, None

    def _read_loop(self, element: Element, tag: str) -> Loop | None:
        """A loop in our notation, as a joint that is cut, or of Drake and Isaac.

        Ours has an ``<origin>`` on each side, a joint one on its parent; ``<loop_joint>`` has the
        frame of each link as attributes, and the axis in both.
        """
        reader, of_drake = self.reader, tag == "loop_joint"
        name, kind = reader.name(element), self._kind_of(element, "_joint" if of_drake else "")
        (one, first), (two, second) = (self._link_of(element, *tags) for tags in _SIDES[tag])
        if kind is None or one is None or two is None:
            return None
        if of_drake and (kind.parameters or len(kind.axes) > 1):
            self._not_for_type(element, kind)
            return None
        if of_drake:
            origins = reader.pose(one), reader.pose(two)
        elif tag == "loop":
            origins = _origin(reader, one), _origin(reader, two)
        else:
            origins = _origin(reader, element), Pose()
        return self._loop(element, name, kind, (first, second), origins)

    def _loop(
        self,
        element: Element,
        name: str | None,
        kind: JointKind | None,
        links: tuple[str | None, str | None],
        origins: tuple[Pose, Pose],
        axes: tuple[Vector, Vector] | None = None,
    ) -> Loop | None:
        """Loop between two links, with the children that all its notations have."""
        predecessor, successor = links
        if name is None or kind is None or predecessor is None or successor is None:
            return None
        axis, axis2 = axes or read_axes(self.reader, element, kind)
        own = self._joint_values(element, kind) | {"line": line_of(element)}
        loop = Loop(name, kind.name, predecessor, successor, *origins, axis, axis2, **own)
        return with_constants(loop, read_constants(self.reader, element, kind, "loop"))

    def _joint_values(self, element: Element, kind: JointKind) -> dict[str, Any]:
        """Limits, damping, friction and spring of a loop; a mimic is refused."""
        reader = self.reader
        if element.find("mimic") is not None:
            reader.left_out(
                element, "a joint that closes a loop has no coordinate: it cannot mimic another"
            )
        limits = limits_of_loop(reader, element, read_limits(reader, element, kind))
        return {"limits": limits, **dataclasses.asdict(read_dynamics(reader, element, kind))}

    def _not_for_type(self, element: Element, kind: JointKind) -> None:
        problem = f"type {kind.name!r} is not known here; write it as <loop>"
        self.reader.left_out(element, problem, lost=True)

    def _read_constraint(self, element: Element) -> Loop | None:
        """``<constraint>`` as proposed for ROS, and ``<loop_joint>``, which differs in the axis."""
        reader = self.reader
        name, kind = reader.name(element), self._kind_of(element, "_joint")
        _, parent = self._link_of(element, "parent")
        _, child = self._link_of(element, "child")
        if kind is None:
            return None
        if kind.parameters:
            self._not_for_type(element, kind)
            return None
        sides = [
            reader.pose(reader.only(element, f"{side}_origin")) for side in ("parent", "child")
        ]
        parent_axis = reader.only(element, "parent_axis")
        if parent_axis is not None and element.find("axis") is not None:
            reader.problem(element, "has <axis> and <parent_axis>, which say the same; keep one")
        given = reader.only(element, "axis") if parent_axis is None else parent_axis
        axis = reader.axis(given, _X)
        if given is not None and given.get("frame", "parent") not in ("parent", "child"):
            # The two frames of the loop agree in the axis, so that either says the same.
            reader.problem(given, f"frame={given.get('frame')!r}: expected 'parent' or 'child'")
        child_axis = reader.only(element, "child_axis")
        two = len(kind.axes) > 1
        other = reader.axis(child_axis, _Y if two else axis)
        if not two and max(abs(a - b) for a, b in zip(axis, other, strict=True)) > 1e-9:
            if not kind.free_turn:
                reader.problem(
                    element,
                    f"<parent_axis> and <child_axis> of a {kind} constraint must agree in the axes "
                    "of their origins; turn <child_origin>",
                )
            turned = sides[1].matrix
            turned[:3, :3] = turned[:3, :3] @ _rotation_between(axis, other)
            sides[1] = Pose.from_matrix(turned)
        axes = axis, other if two else _Y
        return self._loop(element, name, kind, (parent, child), (sides[0], sides[1]), axes)

    def _read_coupling(self, element: Element) -> Coupling | None:
        reader = self.reader
        name = reader.name(element)
        (_, predecessor), (_, successor) = (self._link_of(element, *tags) for tags in _ENDS)
        ratio, offset = reader.only(element, "ratio"), reader.only(element, "offset")
        values = (
            1.0 if ratio is None else reader.number(ratio, "value"),
            0.0 if offset is None else reader.number(offset, "value"),
        )
        if name is None or predecessor is None or successor is None:
            return None
        return Coupling(name, predecessor, successor, *values, line_of(element))

    def _read_gazebo(self, element: Element) -> bool:
        """SDF joints that Gazebo adds to the tree; false if there are none between our links."""
        from robodyn.urdf.gazebo_joints import GazeboJoints  # reads SDF: few files have such joints

        if self._gazebo is None:
            robot = element.getparent()
            assert robot is not None
            self._gazebo = GazeboJoints(self.reader, self.links, self.joints, robot)
        found = [*self._gazebo.closures(element)]
        # Anything else in the element, a plugin say, stays as text; the joints are taken out of it.
        for joint, closure in found:
            self._add(joint, closure)
            element.remove(joint)
        return bool(found) and len(element) == 0


def _origin(reader: Reader, element: Element) -> Pose:
    return reader.pose(reader.only(element, "origin"))


def _rotation_between(a: Vector, b: Vector) -> np.ndarray:
    """Smallest rotation that turns unit vector ``a`` into ``b``, shape (3, 3)."""
    u, w = np.array(a), np.array(b)
    half = u + w
    if half @ half < 1e-20:  # half a turn about any normal
        half = np.cross(u, _X if abs(u[0]) < 0.9 else _Y)
        half /= np.linalg.norm(half)
        return 2.0 * np.outer(half, half) - np.eye(3)
    # Two reflections: across the plane normal to u, then to the bisector.
    turn: np.ndarray = 2.0 * np.outer(half, half) / (half @ half) - np.eye(3)
    return turn @ (2.0 * np.outer(u, u) - np.eye(3))
