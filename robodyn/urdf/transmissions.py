"""``<transmission>`` of several joints: differentials and four-bar linkages of ros_control, belts.

ROS 1 writes the kind in ``<type>`` and roles as elements, ros2_control the kind in ``<plugin>`` and
roles as attributes. A ``<matrix>`` is ours: speeds of shafts over speeds of joints, row after row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from robodyn.description import Actuator, Joint, Loop, Transmission
from robodyn.errors import ShapeError
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name

__all__ = ["GENERAL", "couples", "is_general", "read_coupled"]

#: Type of a transmission that is given by its matrix.
GENERAL = "robodyn/Transmission"

#: Reduction and rotor inertia that an element says, each if it does.
Gear = Callable[[Reader, Sequence[Element]], tuple[float | None, float | None]]

#: Kinds of two joints, and how each follows from the reductions of the joints.
_PAIRS = {
    "DifferentialTransmission": Transmission.differential,
    "FourBarLinkageTransmission": Transmission.four_bar,
}

_NOT_READ = "left out: its joints have no motors by it"


def _kind_of(element: Element) -> str:
    """Type or plugin of a transmission, without the package; empty where it says none."""
    said = [element.findtext("type"), element.findtext("plugin"), element.get("type")]
    return next((x for x in said if x and x.strip()), "").strip().rpartition("/")[2]


def is_general(element: Element) -> bool:
    """Whether a transmission is given by its matrix."""
    return local_name(element) == "transmission" and element.findtext("type") == GENERAL


def couples(element: Element) -> bool:
    """Whether a transmission is of a kind that couples motors."""
    return _kind_of(element) in _PAIRS or is_general(element)


def read_coupled(
    reader: Reader,
    element: Element,
    joints: Mapping[str, Joint | Loop],
    actuators: dict[str, Actuator],
    gear: Gear,
) -> Transmission | None:
    """A transmission that couples motors; none, and a finding, of one that cannot be modelled.

    Its motors are added to the actuators.
    """
    kind, driven = _kind_of(element), element.findall("joint")
    names = [x.get("name", "") for x in driven]
    if kind not in _PAIRS and not is_general(element):
        shown = f"of type {kind!r} " if kind else ""
        couples = ", ".join(map(repr, names))
        reader.warn(element, f"{shown}couples the joints {couples} to several motors: not modelled")
        return None
    unknown = [name for name in names if name not in joints]
    if unknown:
        reader.warn(element, f"drives {unknown[0]!r}, which is no joint of the robot: not modelled")
        return None
    if is_general(element):
        return _general(reader, element, names, actuators)
    return _pair(reader, element, kind, actuators, gear)


def _general(
    reader: Reader, element: Element, names: list[str], actuators: dict[str, Actuator]
) -> Transmission | None:
    words = (element.findtext("matrix") or "").split()
    before = reader.unread
    values = [reader.to_number(element, "matrix", word) for word in words]
    n = len(names)
    if len(values) != n * n or not n:
        problem = f"has {n} joints and {len(values)} numbers in <matrix>, expected {n * n}"
        reader.problem(element, problem, leniently=_NOT_READ)
        return None
    if reader.unread > before:
        return None
    rows = tuple(tuple(values[k * n : k * n + n]) for k in range(n))
    made = _made(reader, element, lambda name: Transmission(name, tuple(names), rows))
    for joint in names if made else ():
        actuators.setdefault(joint, Actuator())
    return made


def _pair(
    reader: Reader, element: Element, kind: str, actuators: dict[str, Actuator], gear: Gear
) -> Transmission | None:
    found = [_by_role(reader, element, kind, tag) for tag in ("joint", "actuator")]
    if not all(found):
        return None
    driven, driving = found
    if gear(reader, [element]) != (None, None):
        outside = "a reduction or inertia outside of its joints and actuators is left out"
        reader.warn(element, outside)
    reductions = [gear(reader, [x])[0] for x in driven]
    motors = [gear(reader, [x]) for x in driving]
    names = [x.get("name", "") for x in driven]
    turns = tuple(1.0 if x is None else x for x in reductions)
    made = _made(reader, element, lambda name: _PAIRS[kind](name, names, turns))
    if made is None:
        return None
    for joint, motor, (ratio, inertia) in zip(names, driving, motors, strict=True):
        said = Actuator(1.0 if ratio is None else ratio, inertia or 0.0, name=motor.get("name", ""))
        first = actuators.setdefault(joint, said)
        if first != said:
            reader.warn(element, f"is a second one for joint {joint!r}: the first motor counts")
    return made


def _made(
    reader: Reader, element: Element, make: Callable[[str], Transmission]
) -> Transmission | None:
    """The transmission, or a problem where its numbers are wrong."""
    try:
        made = make(element.get("name", ""))
    except ShapeError as error:
        reader.problem(element, str(error), leniently=_NOT_READ)
        return None
    return dataclasses.replace(made, line=line_of(element))


def _by_role(reader: Reader, element: Element, kind: str, tag: str) -> list[Element]:
    """The two joints, or motors, in the order of their roles; a problem where there are others."""
    parts, expected = element.findall(tag), [f"{tag}1", f"{tag}2"]
    if len(parts) != 2:
        problem = f"of type {kind!r} has {len(parts)} <{tag}>, expected 2"
        reader.problem(element, problem, leniently=_NOT_READ)
        return []
    roles = [(x.findtext("role") or x.get("role") or "").strip() for x in parts]
    for part, role in zip(parts, roles, strict=True):
        if role not in expected or roles.count(role) > 1:
            said = f"the role {role!r}" if role else "no role"
            problem = f"<{tag}> {part.get('name')!r} of a {kind} has {said}, expected "
            problem += f"{expected[0]!r} for one and {expected[1]!r} for the other"
            reader.problem(part, problem, leniently=_NOT_READ)
            return []
    return [parts[roles.index(role)] for role in expected]
