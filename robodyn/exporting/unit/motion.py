"""Steps in time and closing of loops as procedures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from robodyn.arrays import named
from robodyn.codegen import Function
from robodyn.errors import ActuationError, SettingsError, SingularError
from robodyn.exporting.unit.procedure import Procedure, Routine, Value, without_unused
from robodyn.exporting.unit.recorder import Recorder, Vector
from robodyn.exporting.unit.unit import Step
from robodyn.literals import IntegratorName, Precision
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.closed_loop import ControlLaw, control_law_of
from robodyn.simulation.control.controller import reads_sensors
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.operations.step import CORRECTIONS, Duration, Instant, step
from robodyn.symbolic.graph import Port
from robodyn.tolerances import LOOP_DRIFT, SINGLE_PRECISION_DRIFT

#: Newton steps of an assembly, at most, before the last one: a guess near by takes five to ten.
ASSEMBLY = 50

#: (name, about, function) -> the routine of a function that a procedure calls.
Part = Callable[[str, str, Function], Routine]

T = Port("t", (), "s")

#: Units of positions and speeds.
Q_UNIT, V_UNIT = "rad, m", "rad/s, m/s"


def explicit(name: str) -> Integrator:
    """An explicit integrator by its name."""
    method = integrators.explicit(name)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(f"a step by {name!r} is no function: take one of {known}")
    return method


def check_step(step: Any) -> float:
    """A length of a step [s]."""
    if not (isinstance(step, int | float | np.number) and 0.0 < step < math.inf):
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    return float(step)


def step_of(
    robot: Robot,
    controller: Any,
    h: float,
    integrator: IntegratorName,
    part: Part,
    dtype: Precision,
) -> Step:
    """A step of a robot under a controller.

    Raises `SettingsError` if the base moves, or the robot or the controller has no straight-line
    code.
    """
    method, parts = explicit(integrator), _Procedures(robot, (), part, dtype)
    first, update, memory = None, None, 0
    if controller is not None:
        law = control_law_of(robot, controller, h, takes_readings=False)
        inner = "_of_state" if reads_sensors(controller) else ""
        first, update, memory = control_of(law, part, inner)
    close = parts.closing() if parts.closes else None
    return Step(h, integrator, close, parts.advance(method, h), first, update, memory)


def control_of(law: ControlLaw, part: Part, inner: str = "") -> tuple[Routine, Routine, int]:
    """The controller at the first sample, at all others, and how many numbers it remembers.

    inner: Ends the names of these functions, where others are called so.
    """
    name = f"control{inner}"
    update = part(name, "Forces of the controller at a sample.", law.update)
    if law.first is law.update:
        return update, update, 0
    first = part(f"{name}_first", "Forces of the controller at the first sample.", law.first)
    return first, update, sum(port.size for port in law.first.outputs if port.name == "state")


def assembly(
    robot: Robot, name: str, hold: Iterable[str], part: Part, dtype: Precision
) -> Procedure:
    """Closing of loops, with some joints held.

    Raises `SettingsError` if the robot has no loops, or these have no straight-line code.
    """
    if not robot.nc:
        raise SettingsError(f"{robot.name!r} has no loops to assemble")
    held = named("hold", hold)
    about = "Close the loops near a guess by Newton's method"
    about += f", with {', '.join(held)} where the guess has them." if held else "."
    return _Procedures(robot, held, part, dtype).assembling(name, about)


class _Procedures:
    """The routines that procedures of a robot call, and these procedures."""

    def __init__(self, robot: Robot, held: tuple[str, ...], part: Part, dtype: Precision) -> None:
        if robot.model.settings.base == "moving":
            raise SettingsError(
                f"the base of {robot.name!r} moves, also within a step: export "
                "robodyn.step_function(robot, ...), which has inputs for it"
            )
        self._robot, self._part, self.closes = robot, part, robot.nc > 0
        self._drift = SINGLE_PRECISION_DRIFT if dtype == "float" else LOOP_DRIFT
        self._inputs = (T, Port("q", (robot.nq,), Q_UNIT), Port("v", (robot.nv,), V_UNIT))
        self._moves: tuple[Routine | None, Routine | None] = (None, None)
        if not robot.joints.coordinates_add:
            self._moves = (
                self._of("integrate", "integrate", "Positions after a displacement."),
                self._of("tangent_rate", "tangent_rate", "Rate of a displacement."),
            )
        self._corrections: Routine | None = None
        if self.closes:
            name = "_".join(("loop_corrections", *held))
            about = "One step of Newton's method that closes the loops."
            self._corrections = self._of("loop_corrections", name, about, controlled=held)
            self._residual = self._of("loop_residual", "loop_residual", "How far loops are open.")

    def _of(self, quantity: str, name: str, about: str, **options: Any) -> Routine:
        """The routine of a quantity."""
        try:
            return self._part(name, about, self._robot.function(quantity, **options))
        except (ActuationError, SingularError) as error:
            raise SettingsError(
                f"{self._robot.name!r} has no straight-line code for a step or for loops: {error}"
            ) from error

    def advance(self, method: Integrator, h: float) -> Procedure:
        """The state after a step under forces that are held."""
        nv = self._robot.nv
        dynamics = self._of("forward_dynamics", "forward_dynamics", "Accelerations under forces.")
        own, start = self._recorder(h, dynamics), Instant(0.0)
        q, v, tau = _vector("q", self._robot.nq), _vector("v", nv), _vector("tau", nv)
        first = own.accelerations(start, q, v, tau, None)
        operations: Any = own
        ends = step(operations, method, start, q, v, tau, Duration(1.0, h), first)
        inputs = (*self._inputs, Port("tau", (nv,), "N m, N"))
        about = f"The state after a step of {h:g} s, in which forces are held."
        return self._procedure(own, "step", about, inputs, ("q_next", "v_next"), ends, Instant(1.0))

    def closing(self) -> Procedure:
        """The nearest state with closed loops."""
        own, start = self._recorder(0.0), Instant(0.0)
        q, v = (_vector(x.name, x.size) for x in self._inputs[1:])
        names, about = ("q_closed", "v_closed"), "The nearest state with closed loops."
        ends = own.close(start, q, v)
        return self._procedure(own, "close", about, self._inputs, names, ends, start)

    def assembling(self, name: str, about: str) -> Procedure:
        """A posture with closed loops near a guess."""
        own, start = self._recorder(0.0, most=ASSEMBLY), Instant(0.0)
        rest = own.assign("rest", Vector(0.0, self._robot.nv))
        found, _ = own.close(start, _vector("q", self._robot.nq), rest)
        return self._procedure(own, name, about, self._inputs[:2], ("q_closed",), (found,), start)

    def _recorder(
        self, h: float, dynamics: Routine | None = None, most: int = CORRECTIONS
    ) -> Recorder:
        return Recorder(h, dynamics, *self._moves, self._corrections, self._drift, most)

    def _procedure(
        self,
        own: Recorder,
        name: str,
        about: str,
        inputs: tuple[Port, ...],
        names: tuple[str, ...],
        ends: tuple[Any, ...],
        end: Instant,
    ) -> Procedure:
        """What was written down, and at last how far loops are open."""
        units = {"q": Q_UNIT, "v": V_UNIT}
        for result, x in zip(names, ends, strict=True):
            own.assign(result, x)
        outputs = [Port(x, (y.size,), units[x[0]]) for x, y in zip(names, ends, strict=True)]
        if self.closes:
            (residual,) = self._residual.program.outputs
            own.residual(self._residual, _vector(names[0], ends[0].size), end)
            outputs.append(Port("residual", residual.shape, residual.unit))
        used = tuple(x for x in inputs if x.name != "t" or self._robot.depends_on_time)
        statements = without_unused(own.statements, {port.name for port in outputs})
        return Procedure(name, about, used, tuple(outputs), statements)


def _vector(name: str, size: int) -> Vector:
    """An input or output of a procedure."""
    return Vector(Value(name, size), size)
