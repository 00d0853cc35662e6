"""A robot in the posture in which files for other programs draw it, and what none of them holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Link, Loop, Mechanism
from robodyn.description.graph_check import find_root
from robodyn.errors import UrdfError, some_of
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.joints import joint_kind
from robodyn.motion.base_motion import rotation_from_quaternion
from robodyn.tolerances import SAME_POSITION

#: The text of a file, and in lines what it does not say.
Written = tuple[str, list[str]]


@dataclass(frozen=True)
class DrawnRobot:
    """A robot in a posture in which its loops are closed.

    floating: Whether its base floats.
    gravity (3,) [m/s^2]: In the world.
    positions: Of all joints by name, of those that close loops, too.
    poses (4, 4) [1, m]: Of all links by name, in the world.
    motors: Joints that have motors.
    """

    mechanism: Mechanism
    floating: bool
    gravity: Sequence[float]
    positions: Mapping[str, Any]
    poses: Mapping[str, FloatArray]
    motors: tuple[str, ...]

    @property
    def base(self) -> str:
        """The link that is the base."""
        return find_root(self.mechanism)

    def position(self, mover: Joint | Loop) -> FloatArray:
        """Coordinates of a joint, shape (nq,); zero where it has none in this posture."""
        given = np.ravel(self.positions.get(mover.name, ()))
        return given if given.size else np.zeros(joint_kind(mover.kind).nq)


def turn(axis: FloatArray, angle: float) -> FloatArray:
    """Pose after a turn about a unit axis, shape (4, 4)."""
    X, half = np.eye(4), 0.5 * angle
    X[:3, :3] = rotation_from_quaternion((*(math.sin(half) * axis), math.cos(half)))
    return X


def has_mass(link: Link) -> bool:
    """Whether a link has mass."""
    return link.inertia is not None and link.inertia.mass > 0.0


def weightless_links(mechanism: Mechanism) -> dict[str, WeightCompensation]:
    """Links on which gravity does not act, as a force at their centre carries their weight."""
    inertias = {x.name: x.inertia for x in mechanism.links}
    found = dict[str, WeightCompensation]()
    for item in mechanism.link_elements:
        inertia = inertias.get(item.places[0][0])
        if isinstance(item, WeightCompensation) and inertia and inertia.mass == item.mass:
            off = np.abs(np.subtract(item.point, inertia.origin.xyz)).max()
            found |= {item.link: item} if off < SAME_POSITION else {}
    return found


def functions_of_users(mechanism: Mechanism) -> Iterator[str]:
    """Elements that are functions of the user, for which no file has words.

    Raises UrdfError: For contacts, without which the robot can be written.
    """
    for what, items in (("constraint", mechanism.constraints), ("force", mechanism.forces)):
        for item in items:
            if getattr(item, "contact", None) is not None:
                raise UrdfError(
                    "cannot be written: contacts have no notation in a file, and "
                    "robot.with_(contacts={}) has none",
                    element=f"{what} {item.name!r}",
                    file=mechanism.file,
                )
            yield f"{what} {item.name!r}"


def without_motors(robot: DrawnRobot) -> Iterator[str]:
    """A line for a robot that has no motors, where its file would have to say so."""
    if robot.mechanism.actuators and not robot.motors:
        yield "no joint has a motor: robodyn takes a file without motors as one with all"


def left_out(parts: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A line for each kind of thing that is left out: what it is, and the names."""
    for what, names in parts:
        if names:
            yield f"{what} ({some_of(names)}) are left out"


def left_out_everywhere(
    mechanism: Mechanism, sensors: Sequence[str] | None = None, *, voltages: bool = False
) -> Iterator[str]:
    """What only robodyn and its URDF hold.

    sensors, optional: Those that the format does not have. Default: all.
    voltages: Whether the format has electric motors whose command is a voltage.
    """
    if sensors is None:
        sensors = [x.name for x in mechanism.sensors]
    kept = "voltage" if voltages else None
    electric = [x for x, y in mechanism.actuators if y.motor and y.command != kept]
    yield from left_out(
        (
            ("stiffness of stops", [x.name for x in mechanism.joints if x.stop_stiffness]),
            ("rotors that spin freely", [x.name for x in mechanism.rotors]),
            ("electric motors", electric),
            ("losses of gears", [x for x, motor in mechanism.actuators if not motor.lossless]),
            ("elastic gears and backlash", [x for x, y in mechanism.actuators if y.elastic]),
            ("sensors", sensors),
        )
    )
