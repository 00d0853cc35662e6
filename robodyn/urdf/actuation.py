"""Motors, gears and transmissions: ``<transmission>``, ``<ros2_control>`` and ``<motor>``.

ROS 1 writes ``<mechanicalReduction>`` in the ``<actuator>``, older files directly in the
``<transmission>``, ROS 2 ``<mechanical_reduction>`` in the ``<joint>`` or the ``<actuator>`` of a
``<transmission>`` inside ``<ros2_control>``. Rotor inertia has the tags of Drake. ROS 1 writes the
kind of a transmission in ``<type>`` and roles as elements, ros2_control the kind in ``<plugin>``,
and roles as attributes. ``<motor>`` and ``<matrix>`` (speeds of shafts over speeds of joints, row
after row) are ours: a ``<motor>`` says all that an ``Actuator`` holds, and goes before others. Its
children are ``<electric>``, a `Motor` with its ``<winding>``, and ``<elastic>``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from robodyn.description import Actuator, Elastic, Joint, Link, Loop, Motor, Transmission, Winding
from robodyn.description.coupled_motors import transmission_problems
from robodyn.description.values import LARGEST
from robodyn.errors import ActuationError, ShapeError, UnknownNameError, some_of
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, line_of, local_name
from robodyn.urdf.ros2_control import beyond_limits, read_controlled_joint, takes_no_commands

#: Type of a transmission that is given by its matrix.
GENERAL = "robodyn/Transmission"

#: Kinds of two joints, and how each follows from the reductions of the joints.
_PAIRS = {
    "DifferentialTransmission": Transmission.differential,
    "FourBarLinkageTransmission": Transmission.four_bar,
}

#: What is done where a transmission cannot be read, and where some contradict one another.
_NOT_READ = "left out: its joints have no motors by it"
_ALONE = "left out: motors turn with one joint each"

_REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
_GEARS = (*_REDUCTIONS, "drake:gear_ratio", "drake:rotor_inertia")

#: Motors by joint, transmissions that couple them, and elements to keep as text.
Read: TypeAlias = tuple[tuple[tuple[str, Actuator], ...], tuple[Transmission, ...], list[Element]]


def read_actuators(
    reader: Reader,
    elements: Iterable[Element],
    links: Mapping[str, Link],
    joints: Mapping[str, Joint | Loop],
) -> Read:
    """Actuators and transmissions of a robot; ``<motor>`` and matrices that are read go."""
    found, kept = _Actuation(reader, links, joints), []
    for element in elements:
        before = len(found.transmissions)
        match local_name(element):
            case "motor":
                found.read_motor(element)
                continue
            case "transmission":
                found.read_transmission(element)
            case "ros2_control":
                found.read_ros2_control(element)
        if not (_is_general(element) and len(found.transmissions) > before):
            kept.append(element)
    found.actuators.update(found.motors)
    return tuple(found.actuators.items()), tuple(found.sound()), kept


def _kind_of(element: Element) -> str:
    """Type or plugin of a transmission, without the package; empty where it says none."""
    said = [element.findtext("type"), element.findtext("plugin"), element.get("type")]
    return next((x for x in said if x and x.strip()), "").strip().rpartition("/")[2]


def _is_general(element: Element) -> bool:
    """Whether a transmission is given by its matrix."""
    return local_name(element) == "transmission" and element.findtext("type") == GENERAL


class _Actuation:
    """What was read so far.

    motors: Those of ``<motor>``, by joint.
    transmissions: Those that couple motors, with their elements.
    """

    def __init__(
        self, reader: Reader, links: Mapping[str, Link], joints: Mapping[str, Joint | Loop]
    ) -> None:
        self._reader, self._links, self._joints = reader, links, joints
        self.actuators: dict[str, Actuator] = {}
        self.motors: dict[str, Actuator] = {}
        self.transmissions: list[tuple[Element, Transmission]] = []
        self._driven: dict[str, str] = {}  # the transmission of each joint that has one

    def sound(self) -> Iterator[Transmission]:
        """Transmissions whose joints and motors are such that they can drive them."""
        made = [x for _, x in self.transmissions]
        wrong = dict(transmission_problems(self._joints, self.actuators, made))
        for element, x in self.transmissions:
            if x in wrong:
                self._reader.problem(element, wrong[x], leniently=_ALONE)
            else:
                yield x

    def read_motor(self, element: Element) -> None:
        """``<motor>``, which says all that an actuator holds."""
        reader, x_axis = self._reader, (1.0, 0.0, 0.0)
        joint, carrier, axis = reader.name(element, "joint"), element.get("mounted_on"), None
        if joint in self.motors:
            reader.problem(element, f"a second motor for joint {joint!r}; keep one")
        elif joint is not None and joint not in self._joints:
            reader.problem(element, UnknownNameError("joint", joint, self._joints))
        elif joint is not None:
            if carrier is not None and carrier not in self._links:
                reader.problem(element, UnknownNameError("link", carrier, self._links))
            if element.get("axis") is not None:
                axis = reader.unit(element, reader.vector(element, "axis", x_axis), x_axis)
            electric = reader.only(element, "electric")
            thermal = None
            if electric is not None:
                thermal = self._made(reader.only(electric, "winding"), Winding)
            made = self._made(
                element,
                Actuator,
                axis=axis,
                mounted_on=carrier,
                name=element.get("name", ""),
                motor=self._made(electric, Motor, thermal=thermal),
                command=element.get("command", "torque"),
                elastic=self._made(reader.only(element, "elastic"), Elastic),
            )
            if made is not None:
                self.motors[joint] = self.actuators[joint] = made

    def _made(self, element: Element | None, make: type[Any], **values: Any) -> Any:
        """What an element describes, if there is one; or a problem where its numbers are wrong."""
        if element is None:
            return None
        try:
            return make(**self._numbers(element, make), **values)
        except (ActuationError, ShapeError, UnknownNameError) as error:
            self._reader.problem(element, str(error), leniently="left out")
            return None

    def _numbers(self, element: Element, make: type[Any]) -> dict[str, Any]:
        """What attributes say of the numbers of a class: its fields, by their annotations."""
        found: dict[str, Any] = {}
        for x in dataclasses.fields(make):
            default = None if x.default is dataclasses.MISSING else x.default
            if x.type == "float":
                infinite = default == math.inf
                found[x.name] = self._reader.number(element, x.name, default, infinite=infinite)
            elif x.type == "float | None" and element.get(x.name) is not None:
                found[x.name] = self._reader.number(element, x.name)
            elif x.type == "tuple[float, float]":
                words = (element.get(x.name) or "").split()
                found[x.name] = tuple(self._reader.to_number(element, x.name, y) for y in words)
        return found

    def read_ros2_control(self, element: Element) -> None:
        """Transmissions, and motors of joints that get commands."""
        for transmission in element.findall("transmission"):
            self.read_transmission(transmission)
        beyond: list[str] = []
        for joint in element.findall("joint"):
            name = joint.get("name", "")
            said = read_controlled_joint(joint, self._reader.warn)
            if name not in self._joints:
                shown = repr(joint.get("name"))
                warning = f"<joint> {shown} is no joint of the robot: not driven"
                self._reader.warn(joint, warning)
                continue
            beyond += beyond_limits(self._joints[name], said)
            if joint.find("command_interface") is None:
                continue
            if takes_no_commands(joint, self._joints[name]):
                warning = f"<joint> {name!r} follows another by <mimic>: its command_interface is"
                self._reader.warn(joint, f'{warning} no motor, unless it says mimic="false"')
            else:
                self.actuators.setdefault(name, Actuator(name=name))
        if beyond:
            warning = f"limits of commands beyond those of joints, which count: {some_of(beyond)}"
            self._reader.warn(element, warning)

    def read_transmission(self, element: Element) -> None:
        """One motor on one joint, or several that are coupled."""
        reader, joints, motors = self._reader, element.findall("joint"), element.findall("actuator")
        driven = [x for x in joints if x.get("name") in self._joints]
        if not driven:
            names = ", ".join(repr(x.get("name")) for x in joints)
            why = f"drives {names}, which is no joint of the robot" if names else "has no <joint>"
            reader.warn(element, f"{why}: not modelled")
            return
        if (
            len(driven) > 1
            or len(motors) > 1
            or _kind_of(element) in _PAIRS
            or _is_general(element)
        ):
            self._read_coupled(element, [x.get("name", "") for x in joints])
            return
        said = self._actuator((element, driven[0], *motors), motors[:1])
        joint = driven[0].get("name", "")
        first = self.actuators.setdefault(joint, said)
        if any(joint in x.joints for _, x in self.transmissions):
            self._refuse_second(element, joint)
        elif (first.gear_ratio, first.rotor_inertia) != (said.gear_ratio, said.rotor_inertia):
            reader.warn(element, f"is a second one for joint {joint!r}: the first counts")
        self._driven.setdefault(joint, element.get("name", ""))

    def _refuse_second(self, element: Element, joint: str) -> None:
        problem = f"drives {joint!r}, which transmission {self._driven[joint]!r} drives too"
        self._reader.problem(element, problem, leniently=_ALONE)

    def _actuator(
        self, parts: Iterable[Element], named: Iterable[Element], coupled: bool = False
    ) -> Actuator:
        """The actuator that parts of a transmission say, called as the first that has a name."""
        ratio, inertia = self._gear(parts, coupled)
        name = next((x.get("name", "") for x in named), "")
        return Actuator(1.0 if ratio is None else ratio, inertia or 0.0, name=name)

    # -- motors that are coupled -----------------------------------------------------------------

    def _read_coupled(self, element: Element, names: list[str]) -> None:
        """A transmission that couples motors; a finding of one that cannot be modelled."""
        kind, reader = _kind_of(element), self._reader
        unknown = [name for name in names if name not in self._joints]
        made = None
        if kind not in _PAIRS and not _is_general(element):
            shown = f"of type {kind!r} " if kind else ""
            listed = ", ".join(map(repr, names))
            warning = f"{shown}couples the joints {listed} to several motors: not modelled"
            reader.warn(element, warning)
        elif unknown:
            warning = f"drives {unknown[0]!r}, which is no joint of the robot: not modelled"
            reader.warn(element, warning)
        elif _is_general(element):
            made = self._by_matrix(element, names)
        else:
            made = self._by_reductions(element, kind)
        if made is None or any(made == other for _, other in self.transmissions):
            return
        for joint in made.joints:
            if joint in self._driven:
                self._refuse_second(element, joint)
                return
        self._driven.update(dict.fromkeys(made.joints, made.name))
        self.transmissions.append((element, made))

    def _by_matrix(self, element: Element, names: list[str]) -> Transmission | None:
        reader, n = self._reader, len(names)
        words = (element.findtext("matrix") or "").split()
        before = reader.unread
        values = [reader.to_number(element, "matrix", word) for word in words]
        if len(values) != n * n or not n:
            problem = f"has {n} joints and {len(values)} numbers in <matrix>, expected {n * n}"
            reader.problem(element, problem, leniently=_NOT_READ)
            return None
        if reader.unread > before:
            return None
        rows = tuple(tuple(values[k * n : k * n + n]) for k in range(n))
        made = self._built(element, lambda name: Transmission(name, tuple(names), rows))
        for joint in names if made else ():
            self.actuators.setdefault(joint, Actuator())
        return made

    def _by_reductions(self, element: Element, kind: str) -> Transmission | None:
        """A differential or a linkage of four bars."""
        driven, driving = (self._by_role(element, kind, tag) for tag in ("joint", "actuator"))
        if not (driven and driving):
            return None
        if self._gear([element], coupled=True) != (None, None):
            outside = "a reduction or inertia outside of its joints and actuators is left out"
            self._reader.warn(element, outside)
        reductions = [self._gear([x], coupled=True)[0] for x in driven]
        motors = [self._actuator([x], [x], coupled=True) for x in driving]
        names = [x.get("name", "") for x in driven]
        turns = tuple(1.0 if x is None else x for x in reductions)
        made = self._built(element, lambda name: _PAIRS[kind](name, names, turns))
        for joint, said in zip(names, motors, strict=True) if made else ():
            if self.actuators.setdefault(joint, said) != said:
                warning = f"is a second one for joint {joint!r}: the first motor counts"
                self._reader.warn(element, warning)
        return made

    def _built(self, element: Element, make: Callable[[str], Transmission]) -> Transmission | None:
        """The transmission, or a problem where its numbers are wrong."""
        try:
            made = make(element.get("name", ""))
        except ShapeError as error:
            self._reader.problem(element, str(error), leniently=_NOT_READ)
            return None
        return dataclasses.replace(made, line=line_of(element))

    def _by_role(self, element: Element, kind: str, tag: str) -> list[Element]:
        """The two joints, or motors, in the order of their roles; a problem if there are others."""
        parts, expected = element.findall(tag), [f"{tag}1", f"{tag}2"]
        if len(parts) != 2:
            problem = f"of type {kind!r} has {len(parts)} <{tag}>, expected 2"
            self._reader.problem(element, problem, leniently=_NOT_READ)
            return []
        roles = [(x.findtext("role") or x.get("role") or "").strip() for x in parts]
        for part, role in zip(parts, roles, strict=True):
            if role not in expected or roles.count(role) > 1:
                said = f"the role {role!r}" if role else "no role"
                problem = f"<{tag}> {part.get('name')!r} of a {kind} has {said}, expected "
                problem += f"{expected[0]!r} for one and {expected[1]!r} for the other"
                self._reader.problem(part, problem, leniently=_NOT_READ)
                return []
        return [parts[roles.index(role)] for role in expected]

    # -- gears ------------------------------------------------------------------------------------

    def _gear(self, parts: Iterable[Element], coupled: bool) -> tuple[float | None, float | None]:
        """Reduction and rotor inertia that elements of a transmission say, each if they do."""
        ratio = inertia = None
        for part in parts:
            seen: set[str] = set()
            for child in part:
                tag = local_name(child)
                if tag in seen and tag in _GEARS:
                    problem = f"a second <{tag}> of one {local_name(part)}; keep one"
                    self._reader.problem(child, problem, leniently="the first is read")
                    continue
                seen.add(tag)
                if tag in _REDUCTIONS:
                    factor = self._number(child, child.text, coupled)
                    ratio = factor if ratio is None or factor is None else ratio * factor
                elif tag == "drake:gear_ratio":
                    ratio = self._number(child, child.get("value"), coupled)
                elif tag == "drake:rotor_inertia":
                    inertia = self._number(child, child.get("value"), coupled)
        return ratio, inertia

    def _number(self, element: Element, text: str | None, coupled: bool) -> float | None:
        """Convert a text to a number; words, which are found in files, say nothing: ``None``.

        Where motors are coupled, a reduction of zero would leave one out: that is a problem.
        """
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        tag = local_name(element)
        no_gear = f"<{tag}> {text!r} would be no gear"
        if value == 0.0 and tag != "drake:rotor_inertia":
            if coupled:
                self._reader.problem(element, no_gear, leniently="taken as 1")
            else:
                self._reader.warn(element, f"{no_gear}, and is left out")
            return None
        if abs(value) <= LARGEST:
            return value
        self._reader.warn(element, f"<{tag}> {text!r} is not a number and is left out")
        return None
