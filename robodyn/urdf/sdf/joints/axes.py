"""The axes of an SDF joint: direction, limits, spring, damping, and the axis that they follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from robodyn.description import Limits, Vector
from robodyn.urdf.common.joint_values import UNLIMITED, Dynamics
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element
from robodyn.urdf.sdf.common.frames import MODEL
from robodyn.urdf.sdf.common.values import number_of, truth_of

__all__ = ["Axis", "Mimicked", "read_axes", "read_mimic_of_drake"]

DEFAULT_AXIS: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Mimicked:
    """``q - offset = multiplier (q_leader - reference)``, of an axis of another joint."""

    joint: str
    axis: str
    multiplier: float
    offset: float
    reference: float


@dataclass(frozen=True)
class Axis:
    """An ``<axis>`` or ``<axis2>``.

    Attributes
    ----------
    direction : (3,)
        Unit vector in the axes of the frame ``expressed_in``; empty: the joint's.
    limits : Limits or None
    dynamics : Dynamics
    mimic : Mimicked or None
    """

    direction: Vector = DEFAULT_AXIS
    expressed_in: str = ""
    limits: Limits | None = None
    dynamics: Dynamics = field(default_factory=Dynamics)
    mimic: Mimicked | None = None


def read_axes(
    reader: Reader, joint: Element, count: int, *, in_model: bool = False
) -> tuple[Axis, ...]:
    """The axes of a joint.

    Parameters
    ----------
    reader : Reader
    joint : Element
    count : int
        How many its kind has.
    in_model : bool
        Axes are expressed in the model's frame where nothing else is said (SDF up to 1.4).
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
            axes.append(Axis())
            continue
        axes.append(_read_axis(reader, element, in_model))
    return tuple(axes)


def _read_axis(reader: Reader, element: Element, in_model: bool) -> Axis:
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
    return Axis(
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


def _read_dynamics(reader: Reader, element: Element | None) -> Dynamics:
    if element is None:
        return Dynamics()
    values = {
        tag: number_of(reader, element, tag, 0.0)
        for tag in ("damping", "friction", "spring_stiffness", "spring_reference")
    }
    for tag in ("damping", "friction", "spring_stiffness"):
        if values[tag] < 0.0:
            reader.problem(element, f"<{tag}> {values[tag]:g} is negative")
    return Dynamics(*values.values())


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
