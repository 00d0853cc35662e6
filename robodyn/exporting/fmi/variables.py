"""What an FMU takes and gives: one variable a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robodyn.codegen.text.assignments import indices
from robodyn.errors import SettingsError
from robodyn.exporting.fmi.parts import Parts
from robodyn.exporting.unit.procedure import Routine
from robodyn.exporting.unit.unit import Unit
from robodyn.model.joint_info import part_names
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import (
    coordinate_names,
    coordinate_units,
    force_unit,
    speed_names,
    speed_units,
)
from robodyn.symbolic.graph import Port


@dataclass(frozen=True)
class Variable:
    """A number that others see; its value reference is its place in the list of them.

    causality {"independent", "input", "output"}
    start: At the beginning; of what is computed there is none.
    """

    name: str
    causality: str
    unit: str
    about: str
    start: float | None


def variables(unit: Unit, parts: Parts) -> tuple[Variable, ...]:
    """Time, positions, speeds, forces, signals of the controller and outputs, in this order.

    Raises `SettingsError` if two have the same name.
    """
    robot = unit.robot
    found = [Variable("time", "independent", "s", "Time.", None), *_joints(unit, parts)]
    for port in parts.signals:
        found += (
            Variable(name, "input", "", f"Input {port.name} of the controller.", 0.0)
            for name in _numbered(port.name, port)
        )
    for routine in parts.outputs:
        if routine.program.name == "measure":
            found += _shown(robot, routine)
            continue
        alone = len(routine.program.outputs) == 1
        for port in routine.program.outputs:
            stem = routine.name if alone else f"{routine.name}.{port.name}"
            found += (
                Variable(name, "output", "", routine.about, None) for name in _numbered(stem, port)
            )
    names = set[str]()
    for variable in found:
        if variable.name in names:
            raise SettingsError(
                f"two variables of the FMU would be called {variable.name!r}: give the function of "
                "that name another one"
            )
        names.add(variable.name)
    return tuple(found)


def _joints(unit: Unit, parts: Parts) -> Iterator[Variable]:
    """Positions, speeds and forces of joints."""
    robot, (start_q, start_v) = unit.robot, unit.start
    lengths = coordinate_units(robot)
    for name, length, q in zip(coordinate_names(robot), lengths, start_q, strict=True):
        yield Variable(f"{name}.position", "output", length, "Position of the joint.", float(q))
    speeds = speed_names(robot), speed_units(robot)
    for name, length, v in zip(*speeds, start_v, strict=True):
        per_second = f"{length or '1'}/s"
        yield Variable(f"{name}.speed", "output", per_second, "Speed of the joint.", float(v))
    if parts.motors is not None:
        joints = [robot.joints[name] for name in robot.actuated_joints]
        parts_of = [part_names(x.name, x.kind.nv, robot.joints) for x in joints]
        units = (joint.kind.unit(k) for joint in joints for k in range(joint.kind.nv))
        speeds = tuple(name for names in parts_of for name in names), tuple(units)
    for name, length in zip(*speeds, strict=True):
        given = parts.step.update is None
        causality, start = ("input", 0.0) if given else ("output", None)
        about = "Force or torque in the joint."
        yield Variable(
            f"{name}.force", causality, force_unit(length).replace(" ", "."), about, start
        )


def _shown(robot: Robot, routine: Routine) -> Iterator[Variable]:
    """What sensors show."""
    sensors = {sensor.name: sensor for sensor in robot.sensors}
    for port in routine.program.outputs:
        sensor = sensors[port.name]
        for column, unit in zip(sensor.columns, sensor.units, strict=True):
            name = f"{sensor.name}.{column}" if len(sensor.columns) > 1 else sensor.name
            yield Variable(name, "output", unit, f"What a {sensor.kind} sensor shows.", None)


def _numbered(stem: str, port: Port) -> Iterator[str]:
    """A name for each number of an array: indices from one, in brackets."""
    if not port.shape:
        yield stem
        return
    for k in range(port.size):
        yield f"{stem}[{','.join(map(str, indices(port, k, 1)))}]"
