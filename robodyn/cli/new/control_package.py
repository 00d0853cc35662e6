"""A package of ROS 2 that puts the joints of a robot behind ros2_control, from templates."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from lxml import etree

import robodyn as rd
from robodyn.cli.convert import files_beside
from robodyn.errors import some_of
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.engine.initial_posture import initial_posture
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.loads.driven_joints import independent
from robodyn.urdf.extensions import refused_by_others
from robodyn.urdf.write import write

#: Periods of the simulation and of ros2_control a second.
RATE = 500
#: Where the file of each template goes; ``robot`` becomes the name of the robot.
PLACES = {
    "package.xml.in": "package.xml",
    "CMakeLists.txt.in": "CMakeLists.txt",
    "README.md.in": "README.md",
    "robot.urdf.xacro.in": "urdf/{}.urdf.xacro",
    "robot.ros2_control.xacro.in": "urdf/{}.ros2_control.xacro",
    "controllers.yaml.in": "config/controllers.yaml",
    "robot.srdf.in": "config/{}.srdf",
    "robot.launch.py.in": "launch/{}.launch.py",
    "gravity_compensation.py.in": "scripts/gravity_compensation.py",
}

_PLACE = re.compile(r"@([A-Z]+)@")
_PREFIX = re.compile(r"[<\s]([A-Za-z][\w.-]*):[A-Za-z][\w.-]*[\s=/>]")


def package_name(robot: rd.Robot) -> str:
    """Name of a package for a robot, as ROS takes it."""
    return f"{_file_name(robot)}_ros2_control"


def check_package_name(name: str) -> None:
    """Refuse names that ROS does not take for a package. Raises `SettingsError`."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "__" in name or name.endswith("_"):
        raise rd.SettingsError(
            f"the folder {name!r} is no name of a package of ROS: begin with a small letter, and "
            "use small letters, digits and single underscores"
        )


def control_package(robot: rd.Robot, package: str) -> tuple[dict[str, str], list[str]]:
    """Contents of the files of a package, by path, and what is to be told of them.

    Raises SettingsError: If the robot has no joint with a motor that ros2_control can command.
    """
    joints, name = ControlJoints(robot), _file_name(robot)
    told = [*joints.notes, *refused_by_others(robot.mechanism, strict_tree=True)]
    urdf = _urdf(robot, joints)
    if beside := files_beside(urdf):
        told.append(f"not copied, and looked for beside urdf/{name}.urdf: {some_of(beside)}")
    words = {
        "PACKAGE": package,
        "ROBOT": _xml(robot.name),
        "FILE": name,
        "RATE": str(RATE),
        "INTERFACE": joints.interfaces[0],
        "INTERFACES": " or ".join(joints.interfaces),
        "CHOICES": json.dumps(joints.interfaces),
        "NAMES": json.dumps(joints.names),
        "TUPLE": repr(joints.names),
        "MOTORS": ", ".join(f"`{x}`" for x in joints.names),
        "NOTES": "".join(f" {text[0].upper()}{text[1:]}." for text in told),
        **_elements(robot, joints, urdf),
    }
    folder = resources.files("robodyn.cli.new") / "ros2_control"
    files = {
        place.format(name): _filled((folder / template).read_text("utf-8"), words)
        for template, place in PLACES.items()
    }
    return {**files, f"urdf/{name}.urdf": urdf}, told


def _filled(template: str, words: Mapping[str, str]) -> str:
    """A template with its words; a line of nothing but an empty one goes."""
    lines = (
        _PLACE.sub(lambda found: words[found[1]], line)
        for line in template.splitlines()
        if not ((alone := _PLACE.fullmatch(line)) and not words[alone[1]])
    )
    return "\n".join(lines) + "\n"


def _file_name(robot: rd.Robot) -> str:
    name = re.sub("[^a-z0-9]+", "_", robot.name.lower()).strip("_")
    return name if name[:1].isalpha() else f"robot_{name}".rstrip("_")


def _urdf(robot: rd.Robot, joints: ControlJoints) -> str:
    """The robot without commands, a tree for other programs, its prefixes declared for xacro.

    Where no motor is described, as all joints have one, and not all get commands, all are written.
    """
    mechanism, every = robot.mechanism, tuple((x, rd.Actuator()) for x in robot.actuated_joints)
    plain = dataclasses.replace(
        mechanism,
        extras=tuple(x for x in mechanism.extras if not x.startswith("<ros2_control")),
        actuators=mechanism.actuators or (every if joints.left_out else ()),
    )
    text = write(plain, strict_tree=True)
    prefixes = sorted({*_PREFIX.findall(text)} - {"xml", "xmlns"})
    spaces = "".join(f' xmlns:{x}="urn:{x}"' for x in prefixes if f"xmlns:{x}=" not in text)
    return text.replace("<robot", f"<robot{spaces}", 1)


def _elements(robot: rd.Robot, joints: ControlJoints, urdf: str) -> dict[str, str]:
    """Lines of XML by the word of the template where they go."""
    root = etree.fromstring(urdf.encode())
    links = {link.get("name", "") for link in root.findall("link")}
    free = [
        x.get("name", "")
        for x in root.findall("joint")
        if x.get("type") != "fixed" and x.find("mimic") is None
    ]
    pairs = {tuple(sorted((x.parent, x.child))) for x in robot.joints.values()}
    motors = [
        {"name": _for_macro(name), "interface": "${interface}", "start": x}
        for name, x in joints.start.items()
    ]
    return {
        "ROOT": _xml(robot.link_names[0]),
        "JOINTS": _lines(6, "xacro:motor", motors),
        "GROUP": _lines(4, "joint", ({"name": name} for name in joints.names)),
        "START": _lines(4, "joint", ({"name": n, "value": x} for n, x in joints.start.items())),
        "PASSIVE": _lines(
            2, "passive_joint", ({"name": name} for name in free if name not in joints.names)
        ),
        "ADJACENT": _lines(
            2,
            "disable_collisions",
            (
                {"link1": a, "link2": b, "reason": "Adjacent"}
                for a, b in sorted(pairs)
                if {a, b} <= links
            ),
        ),
    }


def _lines(indent: int, tag: str, items: Iterable[Mapping[str, object]]) -> str:
    """Elements, a line each."""
    return "\n".join(
        " " * indent + f"<{tag}{''.join(f' {n}={quoteattr(str(x))}' for n, x in item.items())}/>"
        for item in items
    )


def _xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _for_macro(name: str) -> str:
    """A name as a macro of xacro takes it, which makes numbers and truth values of text."""
    is_word = name[0].isalpha() and name.lower() not in ("nan", "inf", "infinity", "true", "false")
    return name if is_word else f"'{name}'"


class ControlJoints:
    """Joints with motors that a ``<ros2_control>`` can name.

    names: In the order of commands.
    left_out: Others with motors.
    start: Where each stands in the neutral posture [rad, m].
    interfaces: Kinds of commands that they take, the usual one first.
    notes: What cannot be commanded, and why.
    Raises SettingsError: If there are none.
    """

    def __init__(self, robot: rd.Robot) -> None:
        self.notes: list[str] = []
        names, log = StateNames(robot), ThrottledLogger(self.notes.append)
        joints, q = CommandedJoints(names), initial_posture(names, log)
        state = names.content(q, np.zeros(robot.nv), np.zeros(robot.nv))
        places = dict(zip(state.name, state.position, strict=True))
        tree = {joint.name for joint in robot.mechanism.joints} - {x.name for x in robot.loops}
        self.names = tuple(name for name in joints.names if name in tree and name in places)
        self.start = {name: float(places[name]) for name in self.names}
        self.left_out = [name for name in robot.actuated_joints if name not in self.names]
        if not self.names:
            raise rd.SettingsError(
                f"{robot.name!r} has no joint with a motor that ros2_control can command: it "
                "takes joints of one coordinate"
            )
        if self.left_out:
            self.notes.append(f"not of one coordinate, and not commanded: {some_of(self.left_out)}")
        self.interfaces: tuple[str, ...] = ("position", "effort")
        rows = [joints.row(name) for name in self.names]
        try:
            joints.refuse_without_coordinates(rows)
        except rd.ActuationError as error:
            self._leave_positions(str(error))
        else:
            if not independent(robot, q, joints.speeds[rows].tolist()):
                self._leave_positions("loops tie them together")

    def _leave_positions(self, reason: str) -> None:
        self.interfaces = ("effort",)
        self.notes.append(f"efforts alone, as not all motors can be driven: {reason}")
