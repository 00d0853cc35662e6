"""Motors and gears: ``<transmission>``, ``<ros2_control>`` and ``<motor>``.

ROS 1 writes ``<mechanicalReduction>`` in the ``<actuator>``, older files directly in the
``<transmission>``, ROS 2 ``<mechanical_reduction>`` in the ``<joint>`` or the ``<actuator>`` of a
``<transmission>`` inside ``<ros2_control>``. Rotor inertia has Drake's tags. ``<motor>`` is ours:
it says all that an ``Actuator`` holds, and goes before what the others say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from robodyn.description import Actuator, Joint, Link, Loop
from robodyn.description.possible import LARGEST
from robodyn.errors import UnknownNameError
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

__all__ = ["read_actuators"]

_REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
_GEARS = (*_REDUCTIONS, "drake:gear_ratio", "drake:rotor_inertia")


def read_actuators(
    reader: Reader,
    elements: Iterable[Element],
    links: Mapping[str, Link],
    joints: Mapping[str, Joint | Loop],
) -> tuple[tuple[tuple[str, Actuator], ...], list[Element]]:
    """Actuators of a robot, and the elements to keep as text (all but ``<motor>``)."""
    actuators: dict[str, Actuator] = {}
    motors: dict[str, Actuator] = {}
    kept = []
    for element in elements:
        match local_name(element):
            case "motor":
                joint = reader.name(element, "joint")
                if joint in motors:
                    reader.problem(element, f"a second motor for joint {joint!r}; keep one")
                elif joint is not None and _known(reader, element, joint, joints):
                    motors[joint] = actuators[joint] = _read_motor(reader, element, links)
                continue
            case "transmission":
                _read_transmission(reader, element, joints, actuators)
            case "ros2_control":
                _read_ros2_control(reader, element, joints, actuators)
        kept.append(element)
    actuators.update(motors)
    return tuple(actuators.items()), kept


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
    actuators: dict[str, Actuator],
) -> None:
    """One motor on one joint; couplings of several are left as text."""
    driven = [e for e in element.findall("joint") if e.get("name") in joints]
    motors = element.findall("actuator")
    if len(driven) != 1 or len(motors) > 1:
        names = ", ".join(repr(e.get("name")) for e in element.findall("joint"))
        reader.warn(
            element,
            f"couples the joints {names} to several motors: not modelled"
            if driven
            else f"drives {names}, which is no joint of the robot: not modelled",
        )
        return
    ratio = inertia = None
    for part in (element, driven[0], *motors):
        seen: set[str] = set()
        for child in part:
            tag = local_name(child)
            if tag in seen and tag in _GEARS:
                problem = f"a second <{tag}> of one {local_name(part)}; keep one"
                reader.problem(child, problem, leniently="the first is read")
                continue
            seen.add(tag)
            if tag in _REDUCTIONS:
                factor = _number_or_warning(reader, child, child.text)
                ratio = factor if ratio is None or factor is None else ratio * factor
            elif tag == "drake:gear_ratio":
                ratio = _number_or_warning(reader, child, child.get("value"))
            elif tag == "drake:rotor_inertia":
                inertia = _number_or_warning(reader, child, child.get("value"))
    name = motors[0].get("name", "") if motors else ""
    joint = driven[0].get("name", "")
    found = Actuator(1.0 if ratio is None else ratio, inertia or 0.0, name=name)
    first = actuators.setdefault(joint, found)
    if (first.gear_ratio, first.rotor_inertia) != (found.gear_ratio, found.rotor_inertia):
        reader.warn(element, f"is a second one for joint {joint!r}: the first counts")


def _read_ros2_control(
    reader: Reader,
    element: Element,
    joints: Mapping[str, Joint | Loop],
    actuators: dict[str, Actuator],
) -> None:
    for transmission in element.findall("transmission"):
        _read_transmission(reader, transmission, joints, actuators)
    for joint in element.findall("joint"):
        name = joint.get("name")
        if joint.find("command_interface") is None:
            continue
        if name in joints:
            actuators.setdefault(str(name), Actuator(name=str(name)))
        else:
            reader.warn(joint, f"<joint> {name!r} is no joint of the robot: not driven")


def _number_or_warning(reader: Reader, element: Element, text: str | None) -> float | None:
    """Convert a text to a number; words, which are found in files, say nothing: ``None``."""
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    tag = local_name(element)
    if value == 0.0 and tag != "drake:rotor_inertia":
        reader.warn(element, f"<{tag}> {text!r} would be no gear, and is left out")
        return None
    if abs(value) <= LARGEST:
        return value
    reader.warn(element, f"<{tag}> {text!r} is not a number and is left out")
    return None
