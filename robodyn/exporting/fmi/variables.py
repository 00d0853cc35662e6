"""What an FMU does, takes and gives, one variable a number, and the files that describe it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from robodyn.codegen.text.assignments import indices
from robodyn.errors import SettingsError
from robodyn.exporting.unit.unit import Call, Routine, Step, Unit, walk
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
from robodyn.version import __version__

#: Inputs that functions get from the state of an FMU; accelerations are those under its forces.
KNOWN = ("t", "q", "v", "tau", "a")


@dataclass(frozen=True, eq=False)
class Parts:
    """What an FMU does.

    signals: Inputs of the controller besides time and state.
    outputs: Functions of time, state, forces and accelerations.
    dynamics: Accelerations, as a step computes them.
    motors: The actuation matrix, where forces are given at motors of which some are at joints that
        follow others; else they are those along speeds.
    needs_time: Whether anything depends on time.
    """

    step: Step
    signals: tuple[Port, ...]
    outputs: tuple[Routine, ...]
    dynamics: Routine
    motors: Routine | None
    needs_time: bool


def parts_of(unit: Unit) -> Parts:
    """What an FMU of a unit does.

    Raises `SettingsError` if there is no step, or a function takes what an FMU does not know.
    """
    if unit.dtype != "double":
        raise SettingsError(f"dtype is {unit.dtype!r}, but an FMU computes with doubles")
    if unit.step is None:
        raise SettingsError("an FMU moves the robot: add 'step' to functions")
    if unit.assemblies:
        raise SettingsError(
            "an FMU does not assemble: leave 'assemble' out; loops are closed when it begins"
        )
    called = tuple(_called(unit.step))
    law = (unit.step.first, unit.step.update)
    outputs = tuple(x for x in unit.routines if x.name in unit.asked and x not in law)
    for routine in outputs:
        _refuse_shared_loads(unit.robot, routine)
        for port in routine.program.inputs:
            if port.name not in KNOWN:
                raise SettingsError(
                    f"{routine.name!r} takes {port.name!r}, but an FMU has {', '.join(KNOWN)} "
                    "for functions: leave it out"
                )
    needs_time = any(_needs_time(routine) for routine in (*called, *outputs))
    dynamics = next(x for x in called if x.program.name == "forward_dynamics")
    return Parts(unit.step, _signals(unit.step), outputs, dynamics, _motors(unit), needs_time)


def _motors(unit: Unit) -> Routine | None:
    """The actuation matrix, where it is needed."""
    robot, name = unit.robot, "actuation_matrix"
    if not robot.model.gearing.elsewhere or (unit.step and unit.step.update is not None):
        return None
    program = robot.function(name).program
    known = next((x for x in unit.routines if x.program is program), None)
    while known is None and name in unit.names:
        name += "_of_motors"
    return known or Routine(name, "Forces along speeds of a unit of force at each motor.", program)


def _refuse_shared_loads(robot: Robot, routine: Routine) -> None:
    """Refuse loads of joints in closed linkages: by accelerations they are those under motors."""
    shown = {port.name for port in routine.program.outputs}
    found = [x.name for x in robot.sensors if x.name in shown and x.kind == "wrench"]
    loads = found if routine.program.name == "measure" else []
    if robot.nc and (loads or routine.program.name == "joint_wrenches"):
        what = f"the sensor {loads[0]!r}" if loads else f"{routine.name!r}"
        raise SettingsError(
            f"{what} shows loads of joints, which in a linkage with loops depend on which joints "
            "forces act in, and not on accelerations alone: an FMU does not have them"
        )


def _needs_time(routine: Routine) -> bool:
    """Whether results of a routine depend on time."""
    first, program = 0, routine.program
    for port in program.inputs:
        if port.name == "t":
            return first in program.needed
        first += port.size
    return False


def _signals(step: Step) -> tuple[Port, ...]:
    """Inputs of the controller that only its user knows."""
    own = (*KNOWN, "applied", "state")
    found = dict[str, Port]()
    for routine in (step.first, step.update):
        if routine is not None:
            found |= {x.name: x for x in routine.program.inputs if x.name not in own}
    return tuple(found.values())


def _called(step: Step) -> Iterator[Routine]:
    """Routines that a step calls."""
    for procedure in (step.close, step.advance):
        statements = () if procedure is None else procedure.statements
        yield from (x.routine for x in walk(statements) if isinstance(x, Call))
    yield from (x for x in (step.first, step.update) if x is not None)


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


#: Exponents of base units.
UNITS = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "m": {"m": 1},
    "1/s": {"s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "m/s": {"m": 1, "s": -1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}


def model_description(
    name: str, identifier: str, token: str, step: float, variables: Sequence[Variable]
) -> str:
    """The model description.

    name: Of the robot.
    identifier: Of the shared library.
    token: By which the library knows that it is given its own description.
    step [s]: Of which all communication steps are multiples.
    variables: In the order of their value references.
    """
    root = Element("fmiModelDescription")
    root.attrib = {
        "fmiVersion": "3.0",
        "modelName": name,
        "instantiationToken": token,
        "description": f"The motion of {name}",
        "generationTool": f"robodyn {__version__}",
        "variableNamingConvention": "flat",
    }
    SubElement(
        root,
        "CoSimulation",
        modelIdentifier=identifier,
        canGetAndSetFMUState="true",
        canSerializeFMUState="true",
        canHandleVariableCommunicationStepSize="true",
        fixedInternalStepSize=repr(step),
    )
    units = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(x.unit for x in variables if x.unit):
        defined = SubElement(units, "Unit", name=unit)
        if unit in UNITS:
            base = {key: str(exponent) for key, exponent in UNITS[unit].items()}
            SubElement(defined, "BaseUnit", base)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", name="logStatusError", description="What has failed")
    SubElement(root, "DefaultExperiment", startTime="0", stopTime="1", stepSize=repr(step))
    listed = SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        SubElement(listed, "Float64", _attributes(variable, reference))
    _structure(SubElement(root, "ModelStructure"), variables)
    return _text(root)


def build_description(identifier: str, sources: Iterable[str]) -> str:
    """Which sources the library is made of."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(build, "SourceFileSet", language="C99")
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    SubElement(build, "Library", name="m")
    return _text(root)


def _attributes(variable: Variable, reference: int) -> dict[str, str]:
    found = {"name": variable.name, "valueReference": str(reference)}
    found["causality"] = variable.causality
    found["description"] = variable.about
    if variable.unit:
        found["unit"] = variable.unit
    if variable.causality == "output":
        found["initial"] = "calculated" if variable.start is None else "exact"
    if variable.start is not None:
        found["start"] = repr(variable.start)
    return found


def _structure(structure: Element, variables: Sequence[Variable]) -> None:
    """Which variables are outputs, and which of them are computed at the start."""
    outputs = [(k, x) for k, x in enumerate(variables) if x.causality == "output"]
    for reference, _ in outputs:
        SubElement(structure, "Output", valueReference=str(reference))
    for reference, variable in outputs:
        if variable.start is None:
            SubElement(structure, "InitialUnknown", valueReference=str(reference))


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
