"""Values that SDF writes as text: numbers, names, booleans and poses."""

from __future__ import annotations

import math
import re

from robodyn.description import Pose
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element

#: Largest float of simulators, which they write for "no limit".
_LARGEST = re.compile(r"^([+-]?)1\.79769\d*e\+?308$", re.IGNORECASE)
IDENTITY = Pose()


@dataclass(frozen=True)
class SdfPose:
    """A ``<pose>``.

    It is given in the frame ``relative_to``; where that is empty, in the usual one of its element.
    """

    pose: Pose = IDENTITY
    relative_to: str = ""


def text_of(reader: Reader, element: Element, tag: str) -> str | None:
    """Text of a child, without blanks around it; ``None`` where there is no such child."""
    child = reader.only(element, tag)
    return None if child is None else (child.text or "").strip()


def number_of(reader: Reader, element: Element, tag: str, default: float) -> float:
    """Number in a child."""
    child = reader.only(element, tag)
    if child is None:
        return default
    text = _LARGEST.sub(r"\1inf", (child.text or "").strip())
    return reader.to_number(child, "text", text, infinite=True)


def truth_of(reader: Reader, element: Element, tag: str) -> bool:
    """Yes or no in a child; no where there is none."""
    child = reader.only(element, tag)
    return child is not None and bool(reader.to_flag(child, "text", child.text or ""))


def read_sdf_pose(reader: Reader, element: Element) -> SdfPose:
    """``<pose>`` of an element: in radians, in degrees, or with a quaternion x, y, z, w."""
    pose = reader.only(element, "pose")
    if pose is None:
        return SdfPose()
    relative_to = pose.get("relative_to") or pose.get("frame") or ""
    words = (pose.text or "").split()
    quaternion = _is_quaternion(reader, pose)
    count = 7 if quaternion else 6
    if not words:
        return SdfPose(relative_to=relative_to)
    if len(words) != count:
        reader.problem(pose, f"<pose> has {len(words)} numbers, expected {count}")
        return SdfPose(relative_to=relative_to)
    x, y, z = (reader.to_number(pose, "text", word) for word in words[:3])
    if quaternion:
        rpy = reader.quaternion(pose, "text", words[3:])
    else:
        unit = math.pi / 180.0 if reader.flag(pose, "degrees") else 1.0
        roll, pitch, yaw = (reader.to_number(pose, "text", word) * unit for word in words[3:])
        rpy = (roll, pitch, yaw)
    return SdfPose(Pose((x, y, z), rpy), relative_to)


def _is_quaternion(reader: Reader, pose: Element) -> bool:
    form = pose.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        reader.problem(pose, f"rotation_format={form!r} is not known: euler_rpy and quat_xyzw are")
    if form == "quat_xyzw" and reader.flag(pose, "degrees"):
        reader.problem(pose, "degrees goes with euler_rpy: a quaternion has no unit")
    return form == "quat_xyzw"
