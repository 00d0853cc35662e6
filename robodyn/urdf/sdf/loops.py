"""What closes loops in SDF: joints beyond the spanning tree, and gearboxes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from robodyn.description import Coupling, Joint, Loop, Pose, Vector
from robodyn.description.constants import with_constants
from robodyn.description.exact_turns import exact_axis, exact_pose
from robodyn.errors import RobodynError, TopologyError
from robodyn.joints import joint_kind
from robodyn.tolerances import GEARBOX_PARALLEL
from robodyn.urdf.common.joint_values import JointDynamics, limits_of_loop
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of
from robodyn.urdf.sdf.frames import Frames
from robodyn.urdf.sdf.joint import SdfAxis, SdfJoint, read_axes, scoped, scoped_axis
from robodyn.urdf.sdf.values import number_of, text_of


def add_joint_frame(frames: Frames, joint: SdfJoint) -> None:
    """Add the frame of a joint, which moves with its child and has the name of the joint."""
    place = joint.place
    frames.add(joint.name, place.pose.matrix, place.relative_to or joint.child, joint.child)


def exactly_placed(joint: SdfJoint) -> SdfJoint:
    """The joint with rounded turns of its pose and axes taken for exact ones."""
    place = dataclasses.replace(joint.place, pose=exact_pose(joint.place.pose))
    axes = tuple(
        dataclasses.replace(axis, direction=exact_axis(axis.direction)) for axis in joint.axes
    )
    return dataclasses.replace(joint, place=place, axes=axes)


def direction_in(frames: Frames, axis: SdfAxis, frame: str) -> Vector:
    """Direction of an axis of a joint whose own frame is ``frame``, in its axes."""
    if not axis.expressed_in or axis.expressed_in == frame:
        return axis.direction
    x, y, z = frames.pose_in(axis.expressed_in, frame)[:3, :3] @ np.array(axis.direction)
    return float(x), float(y), float(z)


def loop_of(reader: Reader, joint: SdfJoint, frames: Frames) -> Loop:
    """A joint as a loop: it closes where the zero position of the frames puts it on both links.

    Raises `UnknownNameError` or `TopologyError` if the joint, its pose or its axes are given in a
    frame that is not there, or in a circle of frames.
    """
    loop = Loop(
        joint.name,
        joint.kind.name,
        frames.link(joint.parent),
        frames.link(joint.child),
        line=joint.line,
        **placed(joint, frames),
        **_joint_values(reader, joint),
    )
    return with_constants(loop, {name.name: joint.pitch for name in joint.kind.parameters})


def placed(joint: SdfJoint, frames: Frames) -> dict[str, Any]:
    """Frames and axes of a joint as a loop."""
    parent, child = frames.link(joint.parent), frames.link(joint.child)
    directions: list[Vector] = [direction_in(frames, axis, joint.name) for axis in joint.axes]
    directions += [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)][len(directions) :]
    return {
        "X_predecessor": Pose.from_matrix(frames.pose_in(joint.name, parent)),
        "X_successor": joint.place.pose
        if joint.place.relative_to in ("", child) and joint.child == child
        else Pose.from_matrix(frames.pose_in(joint.name, child)),
        "axis": directions[0],
        "axis2": directions[1],
    }


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


def read_gear(
    reader: Reader,
    element: Element,
    joints: Iterable[Joint],
    frames: Frames,
    *,
    axes_in_model: bool = False,
    scope: str = "",
) -> Coupling | None:
    """Read a ``<joint type="gearbox">``; ``None`` and a problem if it cannot be read.

    With ``theta_1`` and ``theta_2`` the angles of parent and child about ``<axis>`` and
    ``<axis2>``, seen from the reference body, ``theta_2 = -gearbox_ratio * theta_1``.

    joints: Those of the tree; the child of each has a frame of its name.
    frames: Of the links, at zero; the gearbox's own is that of its child.
    axes_in_model: Axes are expressed in the model's frame where nothing else is said (SDF up to
        1.4).
    scope: What stands before the names of a model within, ``"inner::"``.
    """
    name = reader.name(element)
    ends = [text_of(reader, element, tag) for tag in ("parent", "child", "gearbox_reference_body")]
    if name is None or None in ends or "" in ends:
        reader.problem(element, "needs <parent>, <child> and <gearbox_reference_body>", lost=True)
        return None
    ratio = number_of(reader, element, "gearbox_ratio", 1.0)
    axes = [
        scoped_axis(axis, scope) for axis in read_axes(reader, element, 2, in_model=axes_in_model)
    ]
    try:
        parent, child, reference = (frames.link(scoped(str(end), scope)) for end in ends)
        above = {joint.child: joint for joint in joints}
        sides = [
            _sign(frames, _hinge(above, link, reference), axis, child)
            for link, axis in zip((parent, child), axes, strict=True)
        ]
    except RobodynError as error:
        reader.problem(element, error, lost=True)
        return None
    return Coupling(
        scope + name, parent, child, -ratio * sides[0] * sides[1], 0.0, line_of(element)
    )


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
    R = frames.pose_in(hinge.child, expressed_in)[:3, :3]
    cosine = float(np.dot(R @ np.array(hinge.axis), axis.direction))
    if abs(cosine) < 1.0 - GEARBOX_PARALLEL:
        raise TopologyError(
            f"the axes of a gearbox are those of its hinges: that of {hinge.name!r} is another"
        )
    return 1.0 if cosine > 0.0 else -1.0
