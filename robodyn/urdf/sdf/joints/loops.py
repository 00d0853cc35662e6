"""Conversion of SDF joints that close loops to loops of a description."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from robodyn.description import Loop, Pose, Vector
from robodyn.description.constants import with_constants
from robodyn.description.exact_turns import exact_axis, exact_pose
from robodyn.urdf.common.joint_values import Dynamics
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.sdf.common.frames import Frames
from robodyn.urdf.sdf.joints.axes import Axis
from robodyn.urdf.sdf.joints.joint import SdfJoint

__all__ = ["add_joint_frame", "direction_in", "exactly_placed", "loop_of", "placed"]


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


def direction_in(frames: Frames, axis: Axis, frame: str) -> Vector:
    """Direction of an axis of a joint whose own frame is ``frame``, in its axes."""
    if not axis.expressed_in or axis.expressed_in == frame:
        return axis.direction
    x, y, z = frames.pose_in(axis.expressed_in, frame)[:3, :3] @ np.array(axis.direction)
    return float(x), float(y), float(z)


def loop_of(reader: Reader, joint: SdfJoint, frames: Frames) -> Loop:
    """A joint as a loop: it closes where the zero position of the frames puts it on both links.

    Raises
    ------
    UnknownNameError, TopologyError
        What the joint, its pose or its axes are given in is no frame, or hangs in a circle.
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
        limits, own = axis.limits, axis.dynamics
        if limits is not None and limits.lower == limits.upper:
            reader.warn(
                joint.element, f"lower and upper limit are both {limits.lower:g}: no limits"
            )
            limits = dataclasses.replace(limits, lower=-math.inf, upper=math.inf)
        return {"limits": limits, **dataclasses.asdict(own)}
    for axis in joint.axes:
        if axis.limits is not None or axis.dynamics != Dynamics():
            reader.warn(
                joint.element,
                f"limits, damping and springs of a {joint.kind} joint that closes a loop are not "
                "read",
            )
            break
    return {}
