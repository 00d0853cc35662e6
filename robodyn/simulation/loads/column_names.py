"""Names and units of the columns of q and v."""

from __future__ import annotations

import numpy as np

from robodyn.model.joint_info import part_names
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot


@once_per_robot
def speed_names(robot: Robot) -> tuple[str, ...]:
    """A name for each speed: the joint's, or ``"joint[k]"`` where it has several."""
    return _parts(robot, [(name, robot.joints[name].v) for name in robot.joint_names])


@once_per_robot
def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """A name for each coordinate: the joint's, or ``"joint[k]"`` where it has several."""
    return _parts(robot, [(name, robot.joints[name].q) for name in robot.joint_names])


def _parts(robot: Robot, places: list[tuple[str, slice]]) -> tuple[str, ...]:
    widths = [(name, at.stop - at.start) for name, at in places]
    return tuple(x for name, n in widths for x in part_names(name, n, robot.joints))


@once_per_robot
def speed_units(robot: Robot) -> tuple[str, ...]:
    """Unit of what each speed moves: ``"rad"``, ``"m"``, or ``""`` where it is neither."""
    return _units(robot, robot.joint_names)


def _units(robot: Robot, names: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for name, kind in ((name, robot.joints[name].kind) for name in names):
        found += ["C"] if name in _windings(robot) else [kind.unit(k) for k in range(kind.nv)]
    return tuple(found)


@once_per_robot
def _windings(robot: Robot) -> frozenset[str]:
    """Joints whose coordinate is a charge [C], and whose force is a voltage."""
    return frozenset(x.winding for x in robot.model.setup.windings)


@once_per_robot
def motor_names(robot: Robot) -> tuple[str, ...]:
    """A name for each index of a motor, as `Robot.motor_torques` has them."""
    gearing = robot.model.gearing
    if not gearing.elsewhere:
        return speed_names(robot)
    return _parts(robot, [(name, gearing.places[name]) for name in robot.actuated_joints])


@once_per_robot
def motor_joint_units(robot: Robot) -> tuple[str, ...]:
    """Unit of what the joint of each motor moves, as `speed_units` has them."""
    if not robot.model.gearing.elsewhere:
        return speed_units(robot)
    return _units(robot, robot.actuated_joints)


def motor_units(robot: Robot) -> tuple[str, ...]:
    """Unit of what the shaft of each motor moves: ``"rad"``, ``"m"``, or ``""`` for neither.

    The motor of a slide turns if there is a gear, such as a spindle, between them: its ratio is in
    rad/m. With a ratio of 1 it is a linear motor.
    """
    units = motor_joint_units(robot)
    ratios = np.abs(robot.transmission_matrix)
    geared = (ratios != 0.0) & (ratios != 1.0) & (np.array(units) == "m")
    return tuple("rad" if row.any() else unit for row, unit in zip(geared, units, strict=True))


@once_per_robot
def coordinate_units(robot: Robot) -> tuple[str, ...]:
    """Unit of each coordinate; those of quaternions have none."""
    units: list[str] = []
    for name in robot.joint_names:
        joint = robot.joints[name]
        count = joint.q.stop - joint.q.start
        plain = count - 4 if joint.kind.coordinates.quaternion else count
        own = ["C"] if name in _windings(robot) else [joint.kind.unit(k) for k in range(plain)]
        units += own + [""] * (count - plain)
    return tuple(units)


def force_unit(unit: str) -> str:
    """Unit of the force along what is measured in a unit."""
    return {"rad": "N m", "m": "N", "C": "V"}.get(unit, "")
