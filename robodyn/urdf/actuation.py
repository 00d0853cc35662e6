"""Motors and gears: ``<transmission>`` of one joint, ``<ros2_control>`` and ``<motor>``.

ROS 1 writes ``<mechanicalReduction>`` in the ``<actuator>``, older files directly in the
``<transmission>``, ROS 2 ``<mechanical_reduction>`` in the ``<joint>`` or the ``<actuator>`` of a
``<transmission>`` inside ``<ros2_control>``. Rotor inertia has Drake's tags. ``<motor>`` is ours:
it says all that an ``Actuator`` holds, and goes before what the others say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from robodyn.description import Actuator, Joint, Link, Loop, Transmission
from robodyn.description.coupled_motors import transmission_problems
from robodyn.description.possible import LARGEST
from robodyn.errors import UnknownNameError
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name
from robodyn.urdf.transmissions import couples, is_general, read_coupled

__all__ = ["read_actuators"]

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
                elif joint is not None and _known(reader, element, joint, joints):
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

    Attributes
    ----------
    actuators : dict of joint name to Actuator
    driven : dict of joint name to str
        The transmission of each joint that has one.
    transmissions : list of (Element, Transmission)
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


def _known(
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
