"""What closes loops in SDF: joints beyond the spanning tree, and gearboxes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from robodyn.description import Coupling, Joint, Loop, Pose
from robodyn.description.exact_turns import exact_pose
from robodyn.description.joint import with_constants
from robodyn.errors import RobodynError, TopologyError
from robodyn.joints import joint_kind
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import GEARBOX_PARALLEL
from robodyn.urdf.common.joint_values import JointDynamics, limits_of_loop
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of
from robodyn.urdf.sdf.frames import Frames, number_of, text_of
from robodyn.urdf.sdf.joint import SdfAxis, SdfJoint, axes_as_fields, read_axes


def loop_of(reader: Reader, joint: SdfJoint, frames: Frames) -> Loop:
    """A joint as a loop: it closes where the zero position of the frames puts it on both links.

    Raises `UnknownNameError` or `TopologyError` if the joint, its pose or its axes are given in a
    frame that is not there, or in a circle of frames.
    """
    parent, child = frames.link(joint.parent), frames.link(joint.child)
    loop = with_constants(
        Loop(
            joint.name,
            joint.kind.name,
            parent,
            child,
            line=joint.line,
            **_joint_values(reader, joint),
        ),
        {parameter.name: joint.pitch for parameter in joint.kind.parameters},
    )
    directions = [axis.directions(frames, joint.name) for axis in joint.axes]
    before = [*map(Pose.from_matrix, frames.pose_in(joint.name, parent))]
    after = [*map(Pose.from_matrix, frames.pose_in(joint.name, child))]
    if joint.place.relative_to in ("", child) and joint.child == child:  # with all its digits
        after = [joint.place.pose, exact_pose(joint.place.pose)]
    written, exact = (
        dataclasses.replace(
            loop, X_predecessor=before[k], X_successor=after[k], **axes_as_fields(directions, k)
        )
        for k in range(2)
    )
    return dataclasses.replace(written, exact=exact)


def _joint_values(reader: Reader, joint: SdfJoint) -> dict[str, Any]:
    """Limits, damping, friction and spring of a loop with one axis; others have none."""
    if any(axis.mimic is not None for axis in joint.axes):
        reader.problem(
            joint.element,
            "a joint that closes a loop has no coordinate: it cannot mimic another",
            leniently="its <mimic> is left out",
        )
    if len(joint.axes) == 1:
        (axis,) = joint.axes
        limits = limits_of_loop(reader, joint.element, axis.limits)
        return {"limits": limits, **dataclasses.asdict(axis.dynamics)}
    for axis in joint.axes:
        if axis.limits is not None or axis.dynamics != JointDynamics():
            reader.warn(
                joint.element,
                f"limits, damping and springs of a {joint.kind} joint that closes a loop are not "
                "read",
            )
            break
    return {}


@dataclass(frozen=True)
class SdfGear:
    """A ``<joint type="gearbox">``.

    With ``theta_1`` and ``theta_2`` the angles of parent and child about ``<axis>`` and
    ``<axis2>``, seen from the reference body, ``theta_2 = -ratio * theta_1``.

    ends: Frames of the parent, the child and the reference body.
    axes: In the frame of the child where they do not say another.
    """

    name: str
    ends: tuple[str, ...]
    axes: tuple[SdfAxis, ...]
    ratio: float
    element: Element

    def renamed(self, scope: str, renamed: Callable[[str], str]) -> SdfGear:
        """The same in a model with other names; its own name gets the scope before it."""
        ends, axes = map(renamed, self.ends), (axis.renamed(renamed) for axis in self.axes)
        return dataclasses.replace(self, name=scope + self.name, ends=tuple(ends), axes=tuple(axes))


def read_gear(reader: Reader, element: Element, *, axes_in_model: bool = False) -> SdfGear | None:
    """Read a gearbox; ``None`` and a problem if it cannot be read.

    axes_in_model: Axes are expressed in the model's frame where nothing else is said (SDF up to
        1.4).
    """
    name = reader.name(element)
    tags = ("parent", "child", "gearbox_reference_body")
    ends = tuple(text_of(reader, element, tag) or "" for tag in tags)
    if name is None or "" in ends:
        reader.problem(element, "needs <parent>, <child> and <gearbox_reference_body>", lost=True)
        return None
    ratio = number_of(reader, element, "gearbox_ratio", 1.0)
    axes = read_axes(reader, element, 2, in_model=axes_in_model)
    return SdfGear(name, ends, axes, ratio, element)


def coupling_of(
    reader: Reader, gear: SdfGear, joints: Iterable[Joint], frames: Frames
) -> Coupling | None:
    """A gearbox as a coupling; ``None`` and a problem if it is none.

    joints: Those of the tree; the child of each has a frame of its name.
    frames: Of the links, at zero; the gearbox's own is that of its child.
    """
    try:
        parent, child, reference = map(frames.link, gear.ends)
        above = {joint.child: joint for joint in joints}
        sides = [
            _sign(frames, _hinge(above, link, reference), axis, child)
            for link, axis in zip((parent, child), gear.axes, strict=True)
        ]
    except RobodynError as error:
        reader.problem(gear.element, error, lost=True)
        return None
    ratio, line = -gear.ratio * sides[0] * sides[1], line_of(gear.element)
    return Coupling(gear.name, parent, child, ratio, 0.0, line)


def _hinge(above: dict[str, Joint], link: str, reference: str) -> Joint:
    """The single moving joint between a link and the reference body."""
    moving, end = [], link
    for _ in range(len(above) + 1):
        if end == reference or end not in above:
            break
        if above[end].nv:
            moving.append(above[end])
        end = above[end].parent
    if end != reference or len(moving) != 1 or not joint_kind(moving[0].kind).is_pin:
        raise TopologyError(
            f"a gearbox couples two links that each turn about one hinge on its reference body: "
            f"between {link!r} and {reference!r} there is no such hinge alone"
        )
    return moving[0]


def _sign(frames: Frames, hinge: Joint, axis: SdfAxis, child: str) -> float:
    """1 if the hinge turns about the axis of the gearbox, -1 if about the opposite one."""
    expressed_in = axis.expressed_in or child
    R = frames.pose_in(hinge.child, expressed_in)[0, :3, :3]
    cosine = float(np.dot(R @ np.array(hinge.axis), axis.direction))
    if abs(cosine) < 1.0 - GEARBOX_PARALLEL:
        raise TopologyError(
            f"the axes of a gearbox are those of its hinges: that of {hinge.name!r} is another"
        )
    return 1.0 if cosine > 0.0 else -1.0
