"""Poses of links and the text of a robot, as ROS has them; nothing here needs ROS."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn import urdf
from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.bags.messages import own_frame
from robodyn.joints import fixed as fixed_joint
from robodyn.joints.common.relative import quaternion_of
from robodyn.literals import DescriptionForm
from robodyn.urdf.common.document_kind import URDF, document_kind
from robodyn.urdf.common.xml import decode, read_bytes

#: Which encoding the file has; messages have their own.
_DECLARATION = re.compile(r"^\s*<\?xml\s[^>]*\?>\s*")


@dataclass(frozen=True, eq=False)
class Transform:
    """What a ``geometry_msgs/TransformStamped`` holds, but for the stamp.

    parent, child: Links.
    translation (3,) [m]
    rotation (4,): x, y, z, w.
    """

    parent: str
    child: str
    translation: FloatArray
    rotation: FloatArray


def _transform(parent: str, child: str, X: FloatArray) -> Transform:
    return Transform(parent, child, X[:3, 3].copy(), quaternion_of(X))


class LinkTransforms:
    """Poses of the children of joints in their parents; joints that close loops are left out.

    fixed: Of fixed joints, instead of those that move.
    without: Joints that are left out as well.
    links: Parent and child of each.
    """

    def __init__(
        self, robot: rd.Robot, *, fixed: bool = False, without: Collection[str] = ()
    ) -> None:
        known = {*robot.link_names}
        self._robot = robot
        self.links = tuple(
            (joint.parent, joint.child)
            for name, joint in robot.joints.items()
            if (joint.kind is fixed_joint.KIND) == fixed
            and not joint.closure
            and joint.child in known
            and name not in without
        )
        self._frames = (*dict.fromkeys(x for pair in self.links for x in pair if x in known),)
        place = {name: k for k, name in enumerate(self._frames)}
        pairs = [(place.get(parent, -1), place[child]) for parent, child in self.links]
        self._parents, self._children = np.array(pairs, int).reshape(-1, 2).T

    def __call__(self, q: ArrayLike) -> FloatArray:
        """Translation, and rotation x, y, z, w, of each, shape (n, 7) [m, 1].

        q (nq,)
        """
        found = np.empty((len(self.links), 7))
        if self.links:
            X = np.empty((len(self._frames) + 1, 4, 4))
            X[:-1], X[-1] = self._robot.frame_poses(q, frames=self._frames), np.eye(4)
            before, after = X[self._parents], X[self._children]  # the world has no frame
            after[:, :3, 3] -= before[:, :3, 3]
            after[:, :3] = np.swapaxes(before[:, :3, :3], 1, 2) @ after[:, :3]
            found[:, :3], found[:, 3:] = after[:, :3, 3], quaternion_of(after)
        return found

    def transforms(self, q: ArrayLike) -> list[Transform]:
        """The same one by one."""
        places = zip(self.links, self(q), strict=True)
        return [Transform(*pair, x[:3], x[3:]) for pair, x in places]


def transforms(robot: rd.Robot, q: ArrayLike, *, fixed: bool = False) -> list[Transform]:
    """Poses of `LinkTransforms` at one posture, shape (nq,)."""
    return LinkTransforms(robot, fixed=fixed).transforms(q)


def _within(robot: rd.Robot, link: str) -> dict[str, Any]:
    """That poses are those in a link; in the world, where it is none of the robot."""
    return {"relative_to": link} if link in robot.link_names else {}


def sensor_frames(robot: rd.Robot) -> list[Transform]:
    """Frames of messages of sensors that are not those of links, each in its link."""
    found = (own_frame(robot, sensor) for sensor in robot.sensors)
    return [_transform(*place) for place in found if place is not None]


def multi_joint(
    robot: rd.Robot, name: str, q: ArrayLike, v: ArrayLike
) -> tuple[Transform, FloatArray]:
    """Pose across a planar, spherical or floating joint, and its twist in child axes, (6,)."""
    joint = robot.joints[name]
    described = {j.name: j for j in robot.mechanism.joints}.get(name)
    origin = np.eye(4) if described is None else described.origin.matrix
    within = _within(robot, joint.parent)
    X = robot.frame_pose(q, joint.child, **within)
    twist = robot.frame_twist(q, v, joint.child, **within)
    pose = np.asarray(np.linalg.inv(origin) @ X, float)
    return _transform(joint.parent, joint.child, pose), np.asarray(twist, float)


@checked_arguments
def description(robot: rd.Robot, form: DescriptionForm = "tree") -> str:
    """URDF text of a robot.

    form {"tree", "source"}: ``"tree"``: without joints that close loops, for programs that know
        trees only. ``"source"``: everything.
    Raises TopologyError: If the tree runs against a joint of the file, so that no URDF without
        loops has the same joints.
    """
    mechanism = robot.mechanism
    # joint states tell of joints that follow by functions, which no other program knows
    without_functions = dataclasses.replace(mechanism, followers=())
    if form == "source" or not robot.nc:
        file = Path(mechanism.file or "")
        if file.suffix == ".urdf" and file.is_file():
            text = decode(read_bytes(file), str(file))
            if document_kind(text) == URDF:  # not xacro
                return _DECLARATION.sub("", text.removeprefix("\ufeff"))
        return urdf.write(mechanism if form == "source" else without_functions)
    joints = tuple(j for j in mechanism.joints if not robot.joints[j.name].closure)
    children = [joint.child for joint in joints]
    if len({*children}) < len(children):
        raise rd.TopologyError(
            f"the tree of {robot.name!r} runs against a joint of the file: use description:=source"
        )
    names = {joint.name for joint in joints}
    joints = tuple(
        j if j.mimic is None or j.mimic.joint in names else dataclasses.replace(j, mimic=None)
        for j in joints
    )
    motors = tuple((name, motor) for name, motor in mechanism.actuators if name in names)
    transmissions = tuple(x for x in mechanism.transmissions if names.issuperset(x.joints))
    tree = dataclasses.replace(
        without_functions,
        joints=joints,
        loops=(),
        couplings=(),
        actuators=motors,
        transmissions=transmissions,
    )
    return urdf.write(tree)
