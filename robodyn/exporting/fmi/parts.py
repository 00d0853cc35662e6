"""What an FMU does: a step, and outputs besides the state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robodyn.errors import SettingsError
from robodyn.exporting.unit.procedure import Call, Routine, walk
from robodyn.exporting.unit.unit import Step, Unit
from robodyn.robot import Robot
from robodyn.symbolic.graph import Port

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
