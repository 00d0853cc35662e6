"""A description with sensors of its user."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any

from robodyn.arrays import expect
from robodyn.description import Mechanism
from robodyn.description.sensor import DescribedSensor
from robodyn.equations.quantities.wrenches import GROUND
from robodyn.equations.sensors.sensor import Sensor
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.model.changes.joint_sizes import joint_sizes

__all__ = ["AnySensor", "with_sensors"]

#: One that a user gives, or one of a robot.
AnySensor = Sensor | DescribedSensor


def with_sensors(
    mechanism: Mechanism, sensors: Iterable[AnySensor], *, floating: bool
) -> Mechanism:
    """A description with these sensors, and no others.

    Parameters
    ----------
    mechanism : Mechanism
    sensors : iterable of Sensor or DescribedSensor
        Those of a robot, `Robot.sensors`, are taken as they are.
    floating : bool
        The base floats.

    Raises
    ------
    UnknownNameError
    ShapeError
        For two of one name, and functions that do not give what they should.
    """
    sizes: dict[str, Any] = joint_sizes(mechanism, floating=floating)
    found: dict[str, DescribedSensor] = {}
    for given in sensors:
        if not isinstance(given, DescribedSensor):
            expect("one of sensors", given, Sensor, "sensors")
            given = given.described(sizes)
        _check_names(given, mechanism, sizes)
        if given.name in found:
            raise ShapeError(
                f"two sensors are called {given.name!r}: give one of them another name=",
                name="sensors",
            )
        found[given.name] = given
    return dataclasses.replace(mechanism, sensors=tuple(found.values()))


def _check_names(
    sensor: DescribedSensor, mechanism: Mechanism, coordinates: Collection[str]
) -> None:
    """Refuse a sensor on a link, or in a joint, that is not there."""
    where = f"sensor {sensor.name!r}"
    links = [link.name for link in mechanism.links]
    for link in sensor.links:
        if link not in links:
            raise UnknownNameError("link", link, [*links, WORLD], where)
    joints = [*dict.fromkeys((*coordinates, *(x.name for x in mechanism.movers)))]
    if sensor.kind == "wrench":
        joints += [GROUND, *(x.name for x in mechanism.constraints)]
    for joint in sensor.joints:
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints, where)
