"""Joints as the motions that MJCF knows: hinges, slides, balls and free bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Loop
from robodyn.description.pose import inverse_pose
from robodyn.joints import (
    continuous,
    cylindrical,
    fixed,
    floating,
    helical,
    planar,
    prismatic,
    revolute,
    spherical,
    universal,
)
from robodyn.joints.common.described import align_z
from robodyn.urdf.common.drawn import turn
from robodyn.urdf.mjcf.bodies import pose_of

#: Motions of a kind of joint, one after the other: type, axis, and what is added to its name.
MOTIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    fixed.KIND.name: (),
    revolute.KIND.name: (("hinge", "axis", ""),),
    continuous.KIND.name: (("hinge", "axis", ""),),
    prismatic.KIND.name: (("slide", "axis", ""),),
    spherical.KIND.name: (("ball", "axis", ""),),
    floating.KIND.name: (("free", "axis", ""),),
    universal.KIND.name: (("hinge", "axis", "_1"), ("hinge", "axis2", "_2")),
    cylindrical.KIND.name: (("slide", "axis", "_slide"), ("hinge", "axis", "_turn")),
    helical.KIND.name: (("hinge", "axis", ""), ("slide", "axis", "_advance")),
    planar.KIND.name: (
        ("slide", "first", "_x"),
        ("slide", "second", "_y"),
        ("hinge", "axis", "_turn"),
    ),
}

#: A floating joint that does not begin at the world, which MuJoCo does not have.
FLOATING_ELSEWHERE = (
    ("slide", "x", "_x"),
    ("slide", "y", "_y"),
    ("slide", "z", "_z"),
    ("ball", "axis", "_turn"),
)


@dataclass(frozen=True)
class Motion:
    """One motion of a joint.

    name, type: In the file.
    axis (3,): In the axes of the joint.
    position: Of a hinge or a slide where it is drawn [rad, m].
    pose (4, 4) [1, m]: That it gives there.
    """

    name: str
    type: str
    axis: FloatArray
    position: float
    pose: FloatArray
    joint: Joint | Loop

    @property
    def single(self) -> bool:
        """Whether it has one freedom."""
        return self.type in ("hinge", "slide")

    @property
    def is_whole_joint(self) -> bool:
        """Whether its coordinate is that of the joint."""
        return self.single and self.name == self.joint.name

    @property
    def follows(self) -> bool:
        """Whether it is the advance of a screw, which follows the angle."""
        return self.joint.kind == helical.KIND.name and self.type == "slide"


def motions_of(
    joint: Joint | Loop, drawn: FloatArray, *, reversed_: bool, at_world: bool
) -> list[Motion]:
    """Motions of a joint, the other way round and in the other order if it is reversed.

    drawn: Its coordinates in the posture that is drawn.
    at_world: Whether it moves from the frame of the world.
    """
    axis = np.array(joint.axis, float)
    axes = {"axis": axis, "axis2": np.array(joint.axis2, float)}
    if joint.kind == planar.KIND.name:
        axes["first"], axes["second"], _ = align_z(axis).T
    rows = MOTIONS[joint.kind]
    if joint.kind == floating.KIND.name and not at_world:
        rows = FLOATING_ELSEWHERE
        axes |= dict(zip("xyz", np.eye(3), strict=True))
    if joint.kind == helical.KIND.name:
        drawn = np.array([drawn[0], drawn[0] * joint.constants["pitch"]])
    found = []
    for k, (type_, name, suffix) in enumerate(rows):
        way = -axes[name] if reversed_ else axes[name]
        position = float(drawn[k])
        X = _pose(type_, way, position, drawn)
        if reversed_ and type_ in ("ball", "free"):
            X = inverse_pose(X)
        found.append(Motion(joint.name + suffix, type_, way, position, X, joint))
    return found[::-1] if reversed_ else found


def _pose(type_: str, axis: FloatArray, position: float, drawn: FloatArray) -> FloatArray:
    """Pose that a motion gives."""
    if type_ == "slide":
        return pose_of(position * axis)
    if type_ == "hinge":
        return turn(axis, position)
    x, y, z, w = drawn[-4:]
    return pose_of(drawn[:3] if type_ == "free" else np.zeros(3), (w, x, y, z))
