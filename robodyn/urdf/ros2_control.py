"""``<ros2_control>``: which joints get which commands, within which limits, and where they start.

Its text is kept in a mechanism and written back; this reads from it what moves the robot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from robodyn.description import Joint, Loop, Mechanism
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import ROUNDED_LIMIT
from robodyn.urdf.common.xml import Element, parse_xml

#: Says what is wrong with an element.
Warn = Callable[[Element, str], object]


@dataclass(frozen=True)
class ControlledJoint:
    """What ``<ros2_control>`` says of a joint.

    commands: Least and largest number of each command interface; infinite where it says none.
    initial: Numbers at the start, by state interface.
    """

    commands: Mapping[str, tuple[float, float]]
    initial: Mapping[str, float]

    def range(self, interface: str) -> tuple[float, float]:
        """Least and largest command of an interface."""
        return self.commands.get(interface, (-math.inf, math.inf))

    def top(self, interface: str) -> float:
        """Largest command of an interface either way, as ros2_control takes speeds and efforts.

        Infinite where that would be nothing at all.
        """
        low, high = self.range(interface)
        top = min(abs(low), high)
        return top if top > 0.0 else math.inf


def controlled_joints(mechanism: Mechanism) -> dict[str, ControlledJoint]:
    """Joints of all ``<ros2_control>`` of a mechanism, by name; sensors and gpio are passed over.

    Of several elements with the same joint the first one counts for what it says.
    """
    found: dict[str, ControlledJoint] = {}
    for extra in mechanism.extras:
        if not extra.startswith("<ros2_control"):
            continue
        for element in parse_xml(extra).findall("joint"):
            name, joint = element.get("name", ""), read_controlled_joint(element)
            first = found.get(name, ControlledJoint({}, {}))
            found[name] = ControlledJoint(
                {**joint.commands, **first.commands}, {**joint.initial, **first.initial}
            )
    return found


def read_controlled_joint(
    element: Element, warn: Warn = lambda element, text: None
) -> ControlledJoint:
    """What a ``<joint>`` of ``<ros2_control>`` says."""
    commands, initial = {}, {}
    enabled = _enabled(element)
    for interface in element.findall("command_interface"):
        low = _parameter(interface, "min", -math.inf, warn)
        high = _parameter(interface, "max", math.inf, warn)
        if low > high:
            warn(interface, f"has min {low:g} above max {high:g}: both are left out")
        elif interface.get("name") in ("velocity", "effort") and min(-low, high) <= 0.0:
            warn(interface, f"has min {low:g} and max {high:g}, which allow one way: no limit")
        if low > high or not (enabled and _enabled(interface)):
            low, high = -math.inf, math.inf
        commands[interface.get("name", "")] = low, high
    for interface in element.findall("state_interface"):
        value = _parameter(interface, "initial_value", math.nan, warn)
        if math.isfinite(value):
            initial[interface.get("name", "")] = value
    return ControlledJoint(commands, initial)


def beyond_limits(joint: Joint | Loop, said: ControlledJoint) -> Iterator[str]:
    """Limits of commands that go beyond those of their joint, in words."""
    if (limits := joint.limits) is None:
        return
    speed, effort = limits.velocity or math.inf, limits.effort or math.inf
    own = {"velocity": (-speed, speed), "effort": (-effort, effort)}
    own["position"] = limits.lower, limits.upper
    for interface, bounds in said.commands.items():
        there = own.get(interface, (-math.inf, math.inf))
        given = [x for x in bounds if math.isfinite(x)]
        nearest = [min(max(x, there[0]), there[1]) for x in given]
        if any(
            abs(x - y) > ROUNDED_LIMIT * max(1.0, abs(y))
            for x, y in zip(given, nearest, strict=True)
        ):
            shown = [" to ".join(f"{x:g}" for x in pair) for pair in (bounds, there)]
            yield f"{joint.name!r} ({interface} {shown[0]}, joint {shown[1]})"


def takes_no_commands(element: Element, joint: Joint | Loop) -> bool:
    """Whether a joint follows another by ``<mimic>``: ros2_control gives it no commands then."""
    own = element.get("mimic", "").lower() == "false"
    return getattr(joint, "mimic", None) is not None and not own


def _enabled(element: Element) -> bool:
    """Whether limits count, which ``<limits enable="false"/>`` denies."""
    limits = element.find("limits")
    return limits is None or limits.get("enable", "true").lower() != "false"


def _parameter(element: Element, name: str, otherwise: float, warn: Warn) -> float:
    for parameter in element.findall("param"):
        if parameter.get("name") == name:
            text = (parameter.text or "").strip()
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            if not math.isnan(value):
                return value
            warn(parameter, f"<param> {name}: {text!r} is no number: left out")
    return otherwise
