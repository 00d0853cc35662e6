"""A joint of SDF as it is read: its links, pose and axes, the pitch of a screw, its motor.

Used for joints of SDF models, and for those that URDFs have in ``<gazebo>``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from robodyn.description import Actuator
from robodyn.errors import UnknownNameError
from robodyn.joints import continuous, fixed, helical, prismatic, revolute, spherical, universal
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name
from robodyn.urdf.sdf.common.values import SdfPose, number_of, read_sdf_pose, text_of
from robodyn.urdf.sdf.joints.axes import Axis, read_axes, read_mimic_of_drake

__all__ = [
    "JOINT_TYPES",
    "SdfJoint",
    "read_joint",
]

#: Word -> kind of joint. A gearbox is none: it couples two others.
JOINT_TYPES = {
    kind.name: kind
    for kind in (revolute.KIND, continuous.KIND, prismatic.KIND, universal.KIND, fixed.KIND)
} | {
    "ball": spherical.KIND,
    "screw": helical.KIND,
    "revolute2": universal.KIND,
}


@dataclass(frozen=True)
class SdfJoint:
    """A ``<joint>`` of SDF, gearboxes excepted.

    Attributes
    ----------
    name : str
    kind : str
        Of `JOINT_TYPES`.
    parent, child : str
        Frames, or ``"world"``.
    place : SdfPose
        Of the joint's frame; in that of the child where nothing else is said.
    axes : tuple of Axis
    pitch : float [m/rad]
    motor : Actuator or None
        As Drake says it: ``<drake:gear_ratio>`` and ``<drake:rotor_inertia>``.
    element : Element
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    place: SdfPose
    axes: tuple[Axis, ...]
    pitch: float
    motor: Actuator | None
    element: Element

    @property
    def line(self) -> int | None:
        """Where it stands in the file."""
        return line_of(self.element)


def read_joint(
    reader: Reader,
    element: Element,
    kinds: Mapping[str, JointKind],
    *,
    axes_in_model: bool = False,
) -> SdfJoint | None:
    """Read a ``<joint>``; ``None`` and a problem if too little is said.

    Parameters
    ----------
    reader : Reader
    element : Element
    kinds : mapping of str to JointKind
        By the words for them.
    axes_in_model : bool
        Axes are expressed in the model's frame where nothing else is said (SDF up to 1.4).
    """
    name, word = reader.name(element), reader.name(element, "type")
    parent, child = (_end(reader, element, tag) for tag in ("parent", "child"))
    if name is None or word is None or parent is None or child is None:
        return None
    kind = kinds.get(word.strip().lower())
    if kind is None:
        reader.problem(element, UnknownNameError("type of a joint", word, kinds), lost=True)
        return None
    pitch = 0.0
    if kind.parameters:
        found = read_pitch(reader, element)
        if found is None:
            reader.problem(
                element,
                f"a joint of type {word!r} needs <screw_thread_pitch> in metres a turn",
                leniently="taken as 1 m a turn",
            )
        pitch = 1.0 / math.tau if found is None else found
    elif element.find("screw_thread_pitch") is not None:
        reader.warn(element, f"<screw_thread_pitch> is not read in a joint of type {word!r}")
    axes = read_axes(reader, element, len(kind.axes), in_model=axes_in_model)
    for mimic in (child for child in element if local_name(child) == "drake:mimic"):
        followed = read_mimic_of_drake(reader, mimic)
        axes = tuple(dataclasses.replace(axis, mimic=followed) for axis in axes[:1]) + axes[1:]
    place, motor = read_sdf_pose(reader, element), _read_motor(reader, element)
    return SdfJoint(name, kind, parent, child, place, axes, pitch, motor, element)


def _read_motor(reader: Reader, joint: Element) -> Actuator | None:
    values = {}
    for child in joint:
        tag = local_name(child).removeprefix("drake:")
        if tag in ("gear_ratio", "rotor_inertia"):
            values[tag] = reader.to_number(child, "text", (child.text or "").strip())
    if values.get("rotor_inertia", 0.0) < 0.0 or values.get("gear_ratio", 1.0) == 0.0:
        reader.problem(joint, "a rotor inertia is negative, or a gear ratio zero")
        return None
    gear_ratio, rotor_inertia = values.get("gear_ratio", 1.0), values.get("rotor_inertia", 0.0)
    return Actuator(gear_ratio, rotor_inertia) if values else None


def _end(reader: Reader, element: Element, tag: str) -> str | None:
    name = text_of(reader, element, tag)
    if not name:
        reader.problem(element, f"has no <{tag}>", lost=True)
        return None
    return name


def read_pitch(reader: Reader, joint: Element) -> float | None:
    """Advance of a screw [m/rad], positive for a right-handed thread; ``None`` if it is not given.

    ``<thread_pitch>`` of Gazebo counts radians a metre, and is positive for a left-handed thread.
    """
    advance = reader.only(joint, "screw_thread_pitch")
    if advance is not None:
        return number_of(reader, joint, "screw_thread_pitch", 0.0) / math.tau
    turns = reader.only(joint, "thread_pitch")
    if turns is None:
        return None
    pitch = number_of(reader, joint, "thread_pitch", 0.0)
    if pitch == 0.0:
        reader.problem(turns, "<thread_pitch> is zero: expected radians a metre")
        return None
    reader.warn(
        turns,
        f"<thread_pitch> {pitch:g} rad/m, positive for a left-handed thread, is "
        f"<screw_thread_pitch> {-math.tau / pitch:g} m a turn; some simulators took the other sign",
    )
    return -1.0 / pitch
