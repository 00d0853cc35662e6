"""SDF joints in ``<gazebo>`` elements of a URDF, which close loops or are gearboxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from robodyn.description import Coupling, Joint, Link, Loop
from robodyn.errors import RobodynError
from robodyn.urdf.common.joint_values import LOOP_WORDS
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element
from robodyn.urdf.sdf.frames import Frames, both
from robodyn.urdf.sdf.joint import JOINT_TYPES, SdfJoint, read_joint
from robodyn.urdf.sdf.loops import coupling_of, loop_of, read_gear

#: Kinds that a joint in <gazebo> may have, by the words of SDF and of URDF.
_KINDS = {
    word: kind
    for word, kind in (LOOP_WORDS | JOINT_TYPES).items()
    if not kind.parameters or kind is JOINT_TYPES["screw"]
}


class GazeboJoints:
    """Reads the joints of all ``<gazebo>`` elements of a robot.

    Where they are on their parents, the joints of the tree say in their zero position.
    """

    def __init__(
        self,
        reader: Reader,
        links: Mapping[str, Link],
        joints: Iterable[Joint],
        robot: Element,
    ) -> None:
        self._reader = reader
        self._links = links
        self._joints = tuple(joints)
        self._frames = _frames_of_tree(links, self._joints)
        self._read: dict[Element, SdfJoint | None] = {}
        for gazebo in robot.findall("gazebo"):
            if gazebo.get("reference") is None:
                for element in self._joints_of_robot(gazebo):
                    self._read_one(element)

    def closures(self, gazebo: Element) -> Iterator[tuple[Element, Loop | Coupling | None]]:
        """Joints of one ``<gazebo>`` element between links of the robot."""
        for element in [*self._joints_of_robot(gazebo)]:
            if element.get("type") == "gearbox":
                gear = read_gear(self._reader, element)
                given = self._joints, self._frames
                found = None if gear is None else coupling_of(self._reader, gear, *given)
                yield element, found
            elif (joint := self._read[element]) is not None:
                yield element, self._loop(joint)
            else:
                yield element, None

    def _joints_of_robot(self, gazebo: Element) -> Iterator[Element]:
        """Joints whose links are the robot's; the others are the simulator's, and are warned of."""
        for joint in gazebo.findall("joint"):
            ends = [(joint.findtext(tag) or "").strip() for tag in ("parent", "child")]
            missing = [end for end in ends if end and end not in self._links]
            if not missing:
                yield joint
            elif joint not in self._read:
                self._read[joint] = None
                self._reader.warn(
                    joint,
                    f"<gazebo><joint> joins {missing[0]!r}, which is no link of the robot: it is "
                    "left to the simulator",
                )

    def _read_one(self, element: Element) -> None:
        if element.get("type") == "gearbox":
            return
        joint = self._read[element] = read_joint(self._reader, element, _KINDS)
        if joint is not None and joint.name not in self._frames:
            joint.add_frame(self._frames)

    def _loop(self, joint: SdfJoint) -> Loop | None:
        try:
            return loop_of(self._reader, joint, self._frames)
        except RobodynError as error:
            self._reader.left_out(joint.element, error, lost=True)
            return None


def _frames_of_tree(links: Iterable[str], joints: Iterable[Joint]) -> Frames:
    """Frames of a URDF at zero: its links, and its joints, which stand where their children do."""
    frames = Frames()
    for joint in joints:
        if joint.child not in frames:
            frames.add(joint.child, both(joint.origin), joint.parent)
    for link in links:
        if link not in frames:
            frames.add(link, np.eye(4))
    for joint in joints:
        if joint.name not in frames:
            frames.add(joint.name, np.eye(4), joint.child, joint.child)
    return frames
