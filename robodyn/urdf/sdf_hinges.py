"""Joints of SDF that belong to the tree, as our joints.

Our joints stand where the frame of their child is; those of SDF stand anywhere on it. Where that
makes a difference the joint moves a link of its own, without mass and with its name, that the child
is fixed to: SDF knows that frame by the name of the joint, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn.description import Joint, Link, Mimic, Pose, Vector
from robodyn.description.constants import with_constants
from robodyn.joints import fixed, revolute
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.joint_values import Dynamics
from robodyn.urdf.sdf_frames import Frames, inverse
from robodyn.urdf.sdf_joints import Axis, SdfJoint
from robodyn.urdf.sdf_loops import direction_in

__all__ = ["Hinges", "coordinate_name"]

_DIRECTIONS: tuple[Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def is_split(joint: SdfJoint) -> bool:
    """Whether a joint with two axes is two hinges, because one of them has values of its own."""
    values = [axis for axis in joint.axes if axis.limits or axis.mimic]
    return len(joint.axes) == 2 and bool(
        values or any(axis.dynamics != Dynamics() for axis in joint.axes)
    )


def coordinate_name(joint: SdfJoint, axis: str) -> str:
    """Name of our joint that turns about an axis of a joint of SDF."""
    return f"{joint.name}_{axis}" if is_split(joint) else joint.name


@dataclass
class Hinges:
    """Collects joints of the tree, and the links between them.

    Parameters
    ----------
    frames : Frames
        All frames of the model.
    by_name : mapping of str to SdfJoint
        All joints of the model, for those that follow another.
    """

    frames: Frames
    by_name: dict[str, SdfJoint]
    joints: list[Joint] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def weld(
        self, name: str, parent: str, child: str, X: NDArray[np.float64], line: int | None
    ) -> None:
        """Fix a link to another."""
        self.joints.append(
            Joint(name, fixed.KIND.name, parent, child, Pose.from_matrix(X), line=line)
        )

    def add(self, joint: SdfJoint, parent: str, child: str, *, reverse: bool) -> None:
        """Add a joint between two links; ``reverse`` if the tree comes from its child.

        Parameters
        ----------
        joint : SdfJoint
        parent, child : str
            Links, as the tree has them.
        reverse : bool
        """
        pose_in = self.frames.pose_in
        if not joint.kind.nv:
            self.weld(joint.name, parent, child, pose_in(child, parent), joint.line)
            return
        axes = [*zip(("axis", "axis2"), joint.axes, strict=False)]
        sign = -1.0 if reverse else 1.0
        X_child = pose_in(joint.name, child)
        if _is_free_of_place(joint, X_child):
            at, X_parent, R = child, pose_in(child, parent), X_child[:3, :3]
        else:
            at, X_parent, R = joint.name, pose_in(joint.name, parent), np.eye(3)
            self.links.append(Link(joint.name, line=joint.line))
        directions = [
            _vector(sign * R @ np.array(direction_in(self.frames, axis, joint.name)))
            for _, axis in axes
        ]
        if reverse:
            axes, directions = axes[::-1], directions[::-1]
        if is_split(joint):
            self._add_two(joint, axes, directions, parent, at, X_parent)
        else:
            axis = axes[0][1] if axes else None
            self._add_one(joint, joint.name, joint.kind, axis, directions, parent, at, X_parent)
        if at == joint.name:
            self.weld(child, at, child, inverse(X_child), joint.line)

    def _add_two(
        self,
        joint: SdfJoint,
        axes: list[tuple[str, Axis]],
        directions: list[Vector],
        parent: str,
        child: str,
        X_parent: NDArray[np.float64],
    ) -> None:
        between = f"{joint.name}_{axes[0][0]}"
        self.links.append(Link(between, line=joint.line))
        for (tag, axis), direction, ends, X in zip(
            axes,
            directions,
            ((parent, between), (between, child)),
            (X_parent, np.eye(4)),
            strict=True,
        ):
            name = f"{joint.name}_{tag}"
            above, below = ends
            self._add_one(joint, name, revolute.KIND, axis, [direction], above, below, X)

    def _add_one(
        self,
        joint: SdfJoint,
        name: str,
        kind: JointKind,
        axis: Axis | None,
        directions: Sequence[Vector],
        parent: str,
        child: str,
        X_parent: NDArray[np.float64],
    ) -> None:
        one = directions[0] if directions else _DIRECTIONS[0]
        two = directions[1] if len(directions) > 1 else _DIRECTIONS[1]
        own = Dynamics() if axis is None else axis.dynamics
        found = Joint(
            name,
            kind.name,
            parent,
            child,
            Pose.from_matrix(X_parent),
            one,
            two,
            limits=None if axis is None else axis.limits,
            damping=own.damping,
            friction=own.friction,
            mimic=None if axis is None else self._mimic(joint, axis),
            line=joint.line,
            stiffness=own.stiffness,
            rest=own.rest,
        )
        pitch = {parameter.name: joint.pitch for parameter in kind.parameters}
        self.joints.append(with_constants(found, pitch))

    def _mimic(self, joint: SdfJoint, axis: Axis) -> Mimic | None:
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


def _is_free_of_place(joint: SdfJoint, X_child: NDArray[np.float64]) -> bool:
    """Whether the joint moves the same from the origin of its child: it slides, or is there."""
    return not joint.kind.turns or not X_child[:3, 3].any()


def _vector(x: NDArray[np.float64]) -> Vector:
    a, b, c = (float(component) for component in x)
    return a, b, c
