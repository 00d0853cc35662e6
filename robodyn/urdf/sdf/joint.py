"""A joint of SDF as it is read: its links, pose and axes, the pitch of a screw, its motor.

Used for joints of SDF models, and for those that URDFs have in ``<gazebo>``. Joints of nested
models have scoped names, ``inner::name``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Limits, Vector
from robodyn.description.exact_turns import exact_axis
from robodyn.errors import UnknownNameError
from robodyn.joints import continuous, fixed, helical, prismatic, revolute, spherical, universal
from robodyn.joints.common.kind import JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.joint_values import UNLIMITED, JointDynamics
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name
from robodyn.urdf.sdf.frames import (
    MODEL,
    Frames,
    SdfPose,
    both,
    number_of,
    read_sdf_pose,
    text_of,
    truth_of,
)

DEFAULT_AXIS: Vector = (0.0, 0.0, 1.0)

#: The name of the world in every model.
WORLD = "world"


@dataclass(frozen=True)
class Mimicked:
    """``q - offset = multiplier (q_leader - reference)``, of an axis of another joint."""

    joint: str
    axis: str
    multiplier: float
    offset: float
    reference: float


@dataclass(frozen=True)
class SdfAxis:
    """An ``<axis>`` or ``<axis2>``.

    direction: Unit vector in the axes of the frame ``expressed_in``; empty: the joint's.
    """

    direction: Vector = DEFAULT_AXIS
    expressed_in: str = ""
    limits: Limits | None = None
    dynamics: JointDynamics = field(default_factory=JointDynamics)
    mimic: Mimicked | None = None

    def directions(self, frames: Frames, frame: str) -> FloatArray:
        """As written and exactly, in the axes of a frame, which is the joint's own: (2, 3)."""
        given = np.array([self.direction, exact_axis(self.direction)])
        if self.expressed_in in ("", frame):
            return given
        R = frames.pose_in(self.expressed_in, frame)[:, :3, :3]
        turned: FloatArray = (R @ given[..., None])[..., 0]
        return turned

    def renamed(self, renamed: Callable[[str], str]) -> SdfAxis:
        """The same where frames and joints have other names."""
        mimic = self.mimic and dataclasses.replace(self.mimic, joint=renamed(self.mimic.joint))
        frame = self.expressed_in and renamed(self.expressed_in)
        return dataclasses.replace(self, expressed_in=frame, mimic=mimic)


def read_axes(
    reader: Reader, joint: Element, count: int, *, in_model: bool = False
) -> tuple[SdfAxis, ...]:
    """The axes of a joint.

    Its kind has ``count`` axes. Up to SDF 1.4 they are those of the model (``in_model``) where
    nothing else is said.
    """
    tags = ("axis", "axis2")
    for tag in tags[count:]:
        child = joint.find(tag)
        if child is not None and tag == "axis2":
            reader.warn(child, f"<{tag}> is not read in a joint of type {joint.get('type')!r}")
    axes = []
    for tag in tags[:count]:
        element = reader.only(joint, tag)
        if element is None:
            reader.problem(
                joint,
                f"a joint of type {joint.get('type')!r} needs <{tag}>",
                leniently="its direction is taken as 0 0 1",
            )
            axes.append(SdfAxis())
            continue
        axes.append(_read_axis(reader, element, in_model))
    return tuple(axes)


def _read_axis(reader: Reader, element: Element, in_model: bool) -> SdfAxis:
    expressed_in, direction = "", DEFAULT_AXIS
    xyz = reader.only(element, "xyz")
    if xyz is not None:
        expressed_in = xyz.get("expressed_in") or ""
        direction = _direction(reader, xyz)
    if element.find("use_parent_model_frame") is not None:
        in_model = truth_of(reader, element, "use_parent_model_frame")
    if in_model and expressed_in not in ("", MODEL):
        reader.problem(
            element,
            f"<use_parent_model_frame> contradicts expressed_in={expressed_in!r}; keep one",
        )
    start = reader.only(element, "initial_position")
    if start is not None and number_of(reader, element, "initial_position", 0.0):
        reader.warn(start, "<initial_position> is not read: give the start to what simulates")
    return SdfAxis(
        direction,
        MODEL if in_model else expressed_in,
        _read_limits(reader, reader.only(element, "limit")),
        _read_dynamics(reader, reader.only(element, "dynamics")),
        _read_mimic(reader, reader.only(element, "mimic")),
    )


def _direction(reader: Reader, xyz: Element) -> Vector:
    words = (xyz.text or "").split()
    if len(words) != 3:
        reader.problem(xyz, f"<xyz> has {len(words)} numbers, expected 3")
        return DEFAULT_AXIS
    x, y, z = (reader.to_number(xyz, "text", word) for word in words)
    return reader.unit(xyz, (x, y, z), DEFAULT_AXIS)


def _read_limits(reader: Reader, element: Element | None) -> Limits | None:
    if element is None:
        return None
    lower = number_of(reader, element, "lower", -math.inf)
    upper = number_of(reader, element, "upper", math.inf)
    lower = -math.inf if lower <= -UNLIMITED else lower
    upper = math.inf if upper >= UNLIMITED else upper
    if lower > upper:
        reader.warn(element, f"lower limit {lower:g} is above upper limit {upper:g}: no limits")
        lower, upper = -math.inf, math.inf
    bounds = [number_of(reader, element, tag, math.inf) for tag in ("velocity", "effort")]
    velocity, effort = (math.inf if bound < 0.0 else bound for bound in bounds)
    limits = Limits(lower, upper, velocity, effort)
    return None if limits == Limits() else limits


def _read_dynamics(reader: Reader, element: Element | None) -> JointDynamics:
    if element is None:
        return JointDynamics()
    values = {
        tag: number_of(reader, element, tag, 0.0)
        for tag in ("damping", "friction", "spring_stiffness", "spring_reference")
    }
    for tag in ("damping", "friction", "spring_stiffness"):
        if values[tag] < 0.0:
            reader.problem(element, f"<{tag}> {values[tag]:g} is negative")
    return JointDynamics(*values.values())


def _read_mimic(reader: Reader, element: Element | None) -> Mimicked | None:
    if element is None:
        return None
    joint = reader.name(element, "joint")
    axis = element.get("axis", "axis")
    if axis not in ("axis", "axis2"):
        reader.problem(element, f"<mimic> axis={axis!r}: expected 'axis' or 'axis2'")
    if joint is None:
        return None
    multiplier = reader.only(element, "multiplier")
    if multiplier is None:
        reader.problem(element, "<mimic> has no <multiplier>")
    values = (number_of(reader, element, tag, 0.0) for tag in ("multiplier", "offset", "reference"))
    return Mimicked(joint, axis, *values)


def read_mimic_of_drake(reader: Reader, element: Element) -> Mimicked | None:
    """The joint that the first axis follows by ``<drake:mimic>``."""
    joint = reader.name(element, "joint")
    multiplier, offset = (
        reader.number(element, name, default)
        for name, default in (("multiplier", 1.0), ("offset", 0.0))
    )
    return None if joint is None else Mimicked(joint, "axis", multiplier, offset, 0.0)


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

    kind: Of `JOINT_TYPES`.
    parent, child: Frames, or ``"world"``.
    place: Of the joint's frame; in that of the child where nothing else is said.
    pitch [m/rad]
    motor: As Drake says it: ``<drake:gear_ratio>`` and ``<drake:rotor_inertia>``.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    place: SdfPose
    axes: tuple[SdfAxis, ...]
    pitch: float
    motor: Actuator | None
    element: Element

    @property
    def line(self) -> int | None:
        """Where it stands in the file."""
        return line_of(self.element)

    def add_frame(self, frames: Frames) -> None:
        """Add its frame, which moves with its child and has the name of the joint."""
        frames.add(
            self.name, both(self.place.pose), self.place.relative_to or self.child, self.child
        )

    def renamed(self, scope: str, renamed: Callable[[str], str]) -> SdfJoint:
        """The same in a model with other names; its own name gets the scope before it."""
        base = self.place.relative_to
        return dataclasses.replace(
            self,
            name=scope + self.name,
            parent=renamed(self.parent),
            child=renamed(self.child),
            place=dataclasses.replace(self.place, relative_to=base and renamed(base)),
            axes=tuple(axis.renamed(renamed) for axis in self.axes),
        )


def read_joint(
    reader: Reader,
    element: Element,
    kinds: Mapping[str, JointKind],
    *,
    axes_in_model: bool = False,
) -> SdfJoint | None:
    """Read a ``<joint>``; ``None`` and a problem if too little is said.

    Up to SDF 1.4 axes are those of the model (``axes_in_model``) where nothing else is said.
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


def axes_as_fields(axes: Iterable[FloatArray], k: int) -> dict[str, Any]:
    """Fields of a joint or a loop from axes, shape (2, 3): as written (0), or exact ones (1)."""
    named = zip(("axis", "axis2"), axes, strict=False)
    return {tag: tuple(axis[k].tolist()) for tag, axis in named}
