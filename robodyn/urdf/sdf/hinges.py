"""Conversion of SDF joints of the tree to joints of a description.

Our joints stand where the frame of their child is; those of SDF stand anywhere on it. Where that
makes a difference the joint moves a link of its own, without mass and with its name, that the child
is fixed to: SDF knows that frame by the name of the joint, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn.description import Joint, Link, Mimic, Pose, Vector
from robodyn.description.constants import with_constants
from robodyn.joints import fixed, floating, revolute
from robodyn.tolerances import SAME_ORIGIN
from robodyn.urdf.common.joint_values import JointDynamics
from robodyn.urdf.sdf.frames import Frames
from robodyn.urdf.sdf.joint import SdfAxis, SdfJoint
from robodyn.urdf.sdf.loops import direction_in, exactly_placed


def is_split(joint: SdfJoint) -> bool:
    """Whether a joint with two axes is two hinges, because one of them has values of its own."""
    values = [axis for axis in joint.axes if axis.limits or axis.mimic]
    return len(joint.axes) == 2 and bool(
        values or any(axis.dynamics != JointDynamics() for axis in joint.axes)
    )


def coordinate_name(joint: SdfJoint, axis: str) -> str:
    """Name of the converted joint for an axis of an SDF joint."""
    return f"{joint.name}_{axis}" if is_split(joint) else joint.name


@dataclass(frozen=True)
class _JointGeometry:
    """Origin and axes of a converted joint."""

    origin: Pose
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector = (0.0, 1.0, 0.0)


@dataclass
class Hinges:
    """Collects joints of the tree, and the links between them.

    In the ``exact`` frames of the model, rounded turns are exact ones. ``by_name`` has all joints
    of the model, for those that follow another.
    """

    frames: Frames
    exact: Frames
    by_name: dict[str, SdfJoint]
    joints: list[Joint] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def weld(
        self,
        name: str,
        parent: str,
        child: str,
        line: int | None,
        X: Callable[[Frames], NDArray[np.float64]] | None = None,
    ) -> None:
        """Fix a link to another: where its frame stands in the other's, or as ``X`` says."""
        pose = X or (lambda frames: frames.pose_in(child, parent))
        self._add(
            Joint(name, fixed.KIND.name, parent, child, line=line),
            *(
                _JointGeometry(Pose.from_matrix(pose(frames)))
                for frames in (self.frames, self.exact)
            ),
        )

    def free(self, name: str, parent: str, child: str, line: int | None) -> None:
        """Add a link that moves freely, at zero where the file draws it."""
        self._add(
            Joint(name, floating.KIND.name, parent, child, line=line),
            *(
                _JointGeometry(Pose.from_matrix(frames.pose_in(child, parent)))
                for frames in (self.frames, self.exact)
            ),
        )

    def add(self, joint: SdfJoint, parent: str, child: str, *, reverse: bool) -> None:
        """Add a joint between two links; ``reverse`` if the tree comes from its child.

        Its ``parent`` and ``child`` are links, as the tree has them.
        """
        if not joint.kind.nv:
            self.weld(joint.name, parent, child, joint.line)
            return
        # It stands in the frame of its child if it moves the same from there.
        away = np.abs(self.frames.pose_in(joint.name, child)[:3, 3]).max() > SAME_ORIGIN
        at = joint.name if joint.kind.turns and away else child
        if at != child:
            self.links.append(Link(at, line=joint.line))
        tags = ["axis", "axis2"][: len(joint.axes)][:: -1 if reverse else 1]
        places = [
            _geometry(frames, given, parent, at, reverse=reverse)
            for frames, given in (
                (self.frames, joint),
                (self.exact, exactly_placed(joint)),
            )
        ]
        if is_split(joint):
            between = f"{joint.name}_{tags[0]}"
            self.links.append(Link(between, line=joint.line))
            seconds = [_JointGeometry(Pose(), place.axis2) for place in places]
            self._add(self._hinge(joint, tags[0], parent, between), *places)
            self._add(self._hinge(joint, tags[1], between, at), *seconds)
        else:
            self._add(self._joint(joint, parent, at), *places)
        if at != child:
            self.weld(child, at, child, joint.line)

    def _add(self, joint: Joint, written: _JointGeometry, exact: _JointGeometry) -> None:
        placed, exactly = (
            dataclasses.replace(joint, origin=at.origin, axis=at.axis, axis2=at.axis2)
            for at in (written, exact)
        )
        if placed != exactly:
            placed = dataclasses.replace(placed, exact=exactly)
        self.joints.append(placed)

    def _hinge(self, joint: SdfJoint, tag: str, parent: str, child: str) -> Joint:
        """One of the two hinges of a joint with two axes."""
        axis = joint.axes[("axis", "axis2").index(tag)]
        kind = revolute.KIND.name
        return self._with_values(
            Joint(f"{joint.name}_{tag}", kind, parent, child, line=joint.line), joint, axis
        )

    def _joint(self, joint: SdfJoint, parent: str, child: str) -> Joint:
        found = Joint(joint.name, joint.kind.name, parent, child, line=joint.line)
        if len(joint.axes) == 1:
            found = self._with_values(found, joint, joint.axes[0])
        pitch = {parameter.name: joint.pitch for parameter in joint.kind.parameters}
        return with_constants(found, pitch)

    def _with_values(self, ours: Joint, joint: SdfJoint, axis: SdfAxis) -> Joint:
        """A joint with the limits, springs and such of an axis."""
        return dataclasses.replace(
            ours,
            limits=axis.limits,
            mimic=self._mimic(joint, axis),
            **dataclasses.asdict(axis.dynamics),
        )

    def _mimic(self, joint: SdfJoint, axis: SdfAxis) -> Mimic | None:
        """``q = multiplier (q_leader - reference) + offset``."""
        followed = axis.mimic
        if followed is None:
            return None
        scope = joint.name.rpartition("::")[0]
        leader = f"{scope}::{followed.joint}" if scope else followed.joint
        if leader in self.by_name:
            leader = coordinate_name(self.by_name[leader], followed.axis)
        offset = followed.offset - followed.multiplier * followed.reference
        return Mimic(leader, followed.multiplier, offset)


def _geometry(
    frames: Frames, joint: SdfJoint, parent: str, at: str, *, reverse: bool
) -> _JointGeometry:
    """A joint that moves the frame ``at``, which stands where the joint does, turned or not."""
    R = frames.pose_in(joint.name, at)[:3, :3]
    axes = [_vector(R @ np.array(direction_in(frames, axis, joint.name))) for axis in joint.axes]
    if reverse:
        axes = [(-x, -y, -z) for x, y, z in reversed(axes)]
    return _JointGeometry(Pose.from_matrix(frames.pose_in(at, parent)), *axes)


def _vector(x: NDArray[np.float64]) -> Vector:
    a, b, c = (float(component) for component in x)
    return a, b, c
