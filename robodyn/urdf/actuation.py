"""Motors, gears and transmissions: ``<transmission>``, ``<ros2_control>`` and ``<motor>``.

ROS 1 writes ``<mechanicalReduction>`` in the ``<actuator>``, older files directly in the
``<transmission>``, ROS 2 ``<mechanical_reduction>`` in the ``<joint>`` or the ``<actuator>`` of a
``<transmission>`` inside ``<ros2_control>``. Rotor inertia has the tags of Drake. ROS 1 writes the
kind of a transmission in ``<type>`` and roles as elements, ros2_control the kind in ``<plugin>``,
and roles as attributes. ``<motor>`` and ``<matrix>`` (speeds of shafts over speeds of joints, row
after row) are ours: a ``<motor>`` says all that an ``Actuator`` holds, and goes before others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from robodyn.description import Actuator, Joint, Link, Loop, Transmission
from robodyn.description.coupled_motors import transmission_problems
from robodyn.description.possible import LARGEST
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name

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
    return _read_differential_or_four_bar(reader, element, kind, actuators, gear)


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
    made = _built_or_problem(reader, element, lambda name: Transmission(name, tuple(names), rows))
    for joint in names if made else ():
        actuators.setdefault(joint, Actuator())
    return made


def _read_differential_or_four_bar(
    reader: Reader, element: Element, kind: str, actuators: dict[str, Actuator], gear: Gear
) -> Transmission | None:
    found = [_ordered_by_role(reader, element, kind, tag) for tag in ("joint", "actuator")]
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
    made = _built_or_problem(reader, element, lambda name: _PAIRS[kind](name, names, turns))
    if made is None:
        return None
    for joint, motor, (ratio, inertia) in zip(names, driving, motors, strict=True):
        said = Actuator(1.0 if ratio is None else ratio, inertia or 0.0, name=motor.get("name", ""))
        first = actuators.setdefault(joint, said)
        if first != said:
            reader.warn(element, f"is a second one for joint {joint!r}: the first motor counts")
    return made


def _built_or_problem(
    reader: Reader, element: Element, make: Callable[[str], Transmission]
) -> Transmission | None:
    """The transmission, or a problem where its numbers are wrong."""
    try:
        made = make(element.get("name", ""))
    except ShapeError as error:
        reader.problem(element, str(error), leniently=_NOT_READ)
        return None
    return dataclasses.replace(made, line=line_of(element))


def _ordered_by_role(reader: Reader, element: Element, kind: str, tag: str) -> list[Element]:
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


#: Motors by joint, transmissions that couple them, and elements to keep as text.
Read: TypeAlias = tuple[tuple[tuple[str, Actuator], ...], tuple[Transmission, ...], list[Element]]

#: What is done where transmissions contradict one another.
_ALONE = "left out: motors turn with one joint each"

_REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
_GEARS = (*_REDUCTIONS, "drake:gear_ratio", "drake:rotor_inertia")


def read_actuators(
    reader: Reader,
    elements: Iterable[Element],
    links: Mapping[str, Link],
    joints: Mapping[str, Joint | Loop],
) -> Read:
    """Actuators and transmissions of a robot; ``<motor>`` and matrices that are read go."""
    found, motors, kept = _Found({}, {}, []), dict[str, Actuator](), []
    for element in elements:
        before = len(found.transmissions)
        match local_name(element):
            case "motor":
                joint = reader.name(element, "joint")
                if joint in motors:
                    reader.problem(element, f"a second motor for joint {joint!r}; keep one")
                elif joint is not None and _is_known_joint(reader, element, joint, joints):
                    motors[joint] = _read_motor(reader, element, links)
                    found.actuators[joint] = motors[joint]
                continue
            case "transmission":
                _read_transmission(reader, element, joints, found)
            case "ros2_control":
                _read_ros2_control(reader, element, joints, found)
        if not (is_general(element) and len(found.transmissions) > before):
            kept.append(element)
    found.actuators.update(motors)
    transmissions = tuple(found.sound(reader, joints))
    return tuple(found.actuators.items()), transmissions, kept


@dataclass(frozen=True)
class _Found:
    """What was read so far.

    driven: The transmission of each joint that has one.
    """

    actuators: dict[str, Actuator]
    driven: dict[str, str]
    transmissions: list[tuple[Element, Transmission]]

    def add(self, reader: Reader, element: Element, made: Transmission) -> None:
        """Add a transmission; a problem if another one drives some of its joints."""
        if any(made == other for _, other in self.transmissions):
            return
        for joint in made.joints:
            if joint in self.driven:
                problem = f"drives {joint!r}, which transmission {self.driven[joint]!r} drives too"
                reader.problem(element, problem, leniently=_ALONE)
                return
        self.driven.update(dict.fromkeys(made.joints, made.name))
        self.transmissions.append((element, made))

    def sound(self, reader: Reader, joints: Mapping[str, Joint | Loop]) -> Iterator[Transmission]:
        """Transmissions whose joints and motors are such that they can drive them."""
        made = [x for _, x in self.transmissions]
        wrong = dict(transmission_problems(joints, self.actuators, made))
        for element, x in self.transmissions:
            if x in wrong:
                reader.problem(element, wrong[x], leniently=_ALONE)
            else:
                yield x


def _is_known_joint(
    reader: Reader, element: Element, joint: str, joints: Mapping[str, Joint | Loop]
) -> bool:
    if joint not in joints:
        reader.problem(element, UnknownNameError("joint", joint, joints))
        return False
    return True


def _read_motor(reader: Reader, element: Element, links: Mapping[str, Link]) -> Actuator:
    axis = None
    carrier = element.get("mounted_on")
    if carrier is not None and carrier not in links:
        reader.problem(element, UnknownNameError("link", carrier, links))
    if element.get("axis") is not None:
        axis = reader.unit(
            element, reader.vector(element, "axis", (1.0, 0.0, 0.0)), (1.0, 0.0, 0.0)
        )
    return Actuator(
        reader.number(element, "gear_ratio", 1.0),
        reader.number(element, "rotor_inertia", 0.0),
        axis,
        carrier,
        reader.number(element, "viscous", 0.0),
        reader.number(element, "coulomb", 0.0),
        reader.number(element, "torque_limit", math.inf, infinite=True),
        element.get("name", ""),
    )


def _read_transmission(
    reader: Reader,
    element: Element,
    joints: Mapping[str, Joint | Loop],
    found: _Found,
) -> None:
    """One motor on one joint, or several that are coupled."""
    driven = [e for e in element.findall("joint") if e.get("name") in joints]
    motors = element.findall("actuator")
    if not driven:
        names = ", ".join(repr(e.get("name")) for e in element.findall("joint"))
        why = f"drives {names}, which is no joint of the robot" if names else "has no <joint>"
        reader.warn(element, f"{why}: not modelled")
        return
    if len(driven) > 1 or len(motors) > 1 or couples(element):
        made = read_coupled(reader, element, joints, found.actuators, partial(_gear, coupled=True))
        if made is not None:
            found.add(reader, element, made)
        return
    ratio, inertia = _gear(reader, (element, driven[0], *motors))
    name = motors[0].get("name", "") if motors else ""
    joint = driven[0].get("name", "")
    said = Actuator(1.0 if ratio is None else ratio, inertia or 0.0, name=name)
    first = found.actuators.setdefault(joint, said)
    if any(joint in x.joints for _, x in found.transmissions):
        problem = f"drives {joint!r}, which transmission {found.driven[joint]!r} drives too"
        reader.problem(element, problem, leniently=_ALONE)
    elif (first.gear_ratio, first.rotor_inertia) != (said.gear_ratio, said.rotor_inertia):
        reader.warn(element, f"is a second one for joint {joint!r}: the first counts")
    found.driven.setdefault(joint, element.get("name", ""))


def _gear(
    reader: Reader, parts: Sequence[Element], *, coupled: bool = False
) -> tuple[float | None, float | None]:
    """Reduction and rotor inertia that elements of a transmission say, each if they do."""
    ratio = inertia = None
    for part in parts:
        seen: set[str] = set()
        for child in part:
            tag = local_name(child)
            if tag in seen and tag in _GEARS:
                problem = f"a second <{tag}> of one {local_name(part)}; keep one"
                reader.problem(child, problem, leniently="the first is read")
                continue
            seen.add(tag)
            if tag in _REDUCTIONS:
                factor = _number_or_warning(reader, child, child.text, coupled)
                ratio = factor if ratio is None or factor is None else ratio * factor
            elif tag == "drake:gear_ratio":
                ratio = _number_or_warning(reader, child, child.get("value"), coupled)
            elif tag == "drake:rotor_inertia":
                inertia = _number_or_warning(reader, child, child.get("value"))
    return ratio, inertia


def _read_ros2_control(
    reader: Reader,
    element: Element,
    joints: Mapping[str, Joint | Loop],
    found: _Found,
) -> None:
    for transmission in element.findall("transmission"):
        _read_transmission(reader, transmission, joints, found)
    for joint in element.findall("joint"):
        name = joint.get("name")
        if joint.find("command_interface") is None:
            continue
        if name in joints:
            found.actuators.setdefault(str(name), Actuator(name=str(name)))
        else:
            reader.warn(joint, f"<joint> {name!r} is no joint of the robot: not driven")


def _number_or_warning(
    reader: Reader, element: Element, text: str | None, coupled: bool = False
) -> float | None:
    """Convert a text to a number; words, which are found in files, say nothing: ``None``.

    Where motors are coupled, a reduction of zero would leave one out: that is a problem.
    """
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    tag = local_name(element)
    if value == 0.0 and tag != "drake:rotor_inertia" and coupled:
        reader.problem(element, f"<{tag}> {text!r} would be no gear", leniently="taken as 1")
        return None
    if value == 0.0 and tag != "drake:rotor_inertia":
        reader.warn(element, f"<{tag}> {text!r} would be no gear, and is left out")
        return None
    if abs(value) <= LARGEST:
        return value
    reader.warn(element, f"<{tag}> {text!r} is not a number and is left out")
    return None
