"""Conversion of SDF joints of the tree to joints of a description.

Our joints stand where the frame of their child is; those of SDF stand anywhere on it. Where that
makes a difference the joint moves a link of its own, without mass and with its name, that the child
is fixed to: SDF knows that frame by the name of the joint, too.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Link, Mimic, Pose
from robodyn.description.constants import with_constants
from robodyn.joints import fixed, revolute
from robodyn.tolerances import SAME_ORIGIN
from robodyn.urdf.common.joint_values import JointDynamics
from robodyn.urdf.sdf.frames import Frames, Matrix, both
from robodyn.urdf.sdf.joint import SdfAxis, SdfJoint, axes_as_fields


def is_split(joint: SdfJoint) -> bool:
    """Whether a joint with two axes is two hinges, because one of them has values of its own."""
    values = [axis for axis in joint.axes if axis.limits or axis.mimic]
    return len(joint.axes) == 2 and bool(
        values or any(axis.dynamics != JointDynamics() for axis in joint.axes)
    )


def coordinate_name(joint: SdfJoint, axis: str) -> str:
    """Name of the converted joint for an axis of an SDF joint."""
    return f"{joint.name}_{axis}" if is_split(joint) else joint.name


@dataclass
class Hinges:
    """Collects joints of the tree, and the links between them.

    ``by_name`` has all joints of the model, for those that follow another.
    """

    frames: Frames
    by_name: dict[str, SdfJoint]
    joints: list[Joint] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def attach(
        self,
        name: str,
        parent: str,
        child: str,
        line: int | None,
        X: Matrix | None = None,
        *,
        kind: str = fixed.KIND.name,
    ) -> None:
        """Fix a link to another: where its frame stands in the other's, or at ``X``.

        A link that floats is at zero there.
        """
        place = self.frames.pose_in(child, parent) if X is None else X
        self._add(Joint(name, kind, parent, child, line=line), place)

    def add(self, joint: SdfJoint, parent: str, child: str, *, reverse: bool) -> None:
        """Add a joint between two links; ``reverse`` if the tree comes from its child.

        Its ``parent`` and ``child`` are links, as the tree has them.
        """
        if not joint.kind.nv:
            self.attach(joint.name, parent, child, joint.line)
            return
        # It stands in the frame of its child if it moves the same from there.
        away = np.abs(self.frames.pose_in(joint.name, child)[0, :3, 3]).max() > SAME_ORIGIN
        at = joint.name if joint.kind.turns and away else child
        if at != child:
            self.links.append(Link(at, line=joint.line))
        tags = ["axis", "axis2"][: len(joint.axes)][:: -1 if reverse else 1]
        # It moves the frame `at`, which stands where the joint does, turned or not.
        R, X = self.frames.pose_in(joint.name, at)[:, :3, :3], self.frames.pose_in(at, parent)
        given = (axis.directions(self.frames, joint.name)[..., None] for axis in joint.axes)
        axes = [(R @ x)[..., 0] for x in given]
        axes = [-x for x in reversed(axes)] if reverse else axes
        if is_split(joint):
            between = f"{joint.name}_{tags[0]}"
            self.links.append(Link(between, line=joint.line))
            self._add(self._hinge(joint, tags[0], parent, between), X, *axes)
            self._add(self._hinge(joint, tags[1], between, at), both(Pose()), axes[1])
        else:
            self._add(self._joint(joint, parent, at), X, *axes)
        if at != child:
            self.attach(child, at, child, joint.line)

    def _add(self, joint: Joint, X: Matrix, *axes: FloatArray) -> None:
        """Add a joint with its origin and axes, each as written and exactly."""
        placed, exactly = (
            dataclasses.replace(joint, origin=Pose.from_matrix(X[k]), **axes_as_fields(axes, k))
            for k in range(2)
        )
        if placed != exactly:
            placed = dataclasses.replace(placed, exact=exactly)
        self.joints.append(placed)

    def _hinge(self, joint: SdfJoint, tag: str, parent: str, child: str) -> Joint:
        """One of the two hinges of a joint with two axes."""
        axis = joint.axes[("axis", "axis2").index(tag)]
        kind = revolute.KIND.name
        return self._with_values(
            Joint(f"{joint.name}_{tag}", kind, parent, child, line=joint.line), axis
        )

    def _joint(self, joint: SdfJoint, parent: str, child: str) -> Joint:
        found = Joint(joint.name, joint.kind.name, parent, child, line=joint.line)
        if len(joint.axes) == 1:
            found = self._with_values(found, joint.axes[0])
        pitch = {parameter.name: joint.pitch for parameter in joint.kind.parameters}
        return with_constants(found, pitch)

    def _with_values(self, ours: Joint, axis: SdfAxis) -> Joint:
        """A joint with the limits, springs and such of an axis."""
        return dataclasses.replace(
            ours,
            limits=axis.limits,
            mimic=self._mimic(axis),
            **dataclasses.asdict(axis.dynamics),
        )

    def _mimic(self, axis: SdfAxis) -> Mimic | None:
        """``q = multiplier (q_leader - reference) + offset``."""
        followed = axis.mimic
        if followed is None:
            return None
        leader = followed.joint
        if leader in self.by_name:
            leader = coordinate_name(self.by_name[leader], followed.axis)
        offset = followed.offset - followed.multiplier * followed.reference
        return Mimic(leader, followed.multiplier, offset)
