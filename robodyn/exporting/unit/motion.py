"""Steps in time and closing of loops as procedures: the text of a step is run, and written down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from robodyn.arrays import named
from robodyn.codegen import Function
from robodyn.errors import ActuationError, SettingsError, SingularError
from robodyn.exporting.unit.unit import (
    Assign,
    Call,
    Expression,
    Plus,
    Procedure,
    Routine,
    Statement,
    Step,
    Times,
    Value,
    WhileAbove,
    without_unused,
)
from robodyn.literals import IntegratorName, Precision
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.closed_loop import ControlLaw, control_law_of
from robodyn.simulation.control.controller import reads_sensors
from robodyn.simulation.integrators.method import FLAT, Coordinates, Integrator
from robodyn.simulation.step.operations.step import (
    CORRECTIONS,
    Correct,
    Duration,
    Instant,
    close_loops,
    step,
)
from robodyn.symbolic.graph import Port
from robodyn.tolerances import LOOP_DRIFT, SINGLE_PRECISION_DRIFT


class Vector:
    """An array that is added and multiplied, of which it is written down how."""

    def __init__(self, expression: Expression, size: int) -> None:
        self.expression, self.size = expression, size

    def __add__(self, other: Vector) -> Vector:
        return Vector(Plus(self.expression, other.expression), self.size)

    def __mul__(self, factor: float) -> Vector:
        return Vector(Times(float(factor), self.expression), self.size)

    __rmul__ = __mul__


class Recorder:
    """`Operations` of a step whose values are vectors, for a robot whose joints nothing drives.

    h [s]: The step.
    dynamics, integrate, rate, corrections: What `StepFunctions` are called; the first is not needed
        to close loops.
    drift [m, rad]: Gap that is corrected no more.
    most: Corrections of loops, at most, before the last one.
    """

    def __init__(
        self,
        h: float,
        dynamics: Routine | None,
        integrate: Routine | None,
        rate: Routine | None,
        corrections: Routine | None,
        drift: float = LOOP_DRIFT,
        most: int = CORRECTIONS,
    ) -> None:
        self._h, self._dynamics, self._corrections = h, dynamics, corrections
        self._drift, self._most = drift, most
        self._statements: list[Statement] = []
        self._names = 0
        #: Vectors that have become arrays since the last loop began, and what they were.
        self._kept: list[tuple[Vector, Expression]] = []
        self.coordinates = FLAT
        if integrate is not None and rate is not None:
            self.coordinates = Coordinates(
                lambda q, u: self.called(integrate, q, u)[0],
                lambda u, v: self.called(rate, u, v)[0],
            )

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that was written down."""
        return tuple(self._statements)

    def assign(self, name: str, vector: Vector) -> Vector:
        """Write down an array of a name."""
        value = Value(name, vector.size)
        self._statements.append(Assign(value, vector.expression))
        return Vector(value, vector.size)

    def called(self, routine: Routine, *given: Vector, names: Sequence[str] = ()) -> list[Vector]:
        """What a routine gives for values; its input ``t`` is the last of these.

        names: Of the arrays that it writes. Default: new ones.
        """
        inputs, ports = tuple(self._stored(x) for x in given), routine.program.outputs
        called = names or [self._name(port.name) for port in ports]
        outputs = tuple(Value(x, port.size) for x, port in zip(called, ports, strict=True))
        self._statements.append(Call(routine, inputs, outputs))
        return [Vector(x, x.size) for x in outputs]

    def residual(self, routine: Routine, q: Vector, t: Instant) -> None:
        """Write down how far loops are open as ``residual``."""
        self.called(routine, q, *self._time_input(routine, t), names=("residual",))

    def _stored(self, vector: Vector) -> Value:
        """A vector as an array, which it is from then on."""
        if isinstance(vector.expression, Value):
            return vector.expression
        value = Value(self._name("x"), vector.size)
        self._statements.append(Assign(value, vector.expression))
        self._kept.append((vector, vector.expression))
        vector.expression = value
        return value

    def _name(self, hint: str) -> str:
        self._names += 1
        return f"{hint}_{self._names}"

    def _time_input(self, routine: Routine, t: Instant) -> list[Vector]:
        """The time as the last input of a routine, if it has that."""
        if routine.program.inputs[-1].name != "t":
            return []
        if not t.part:
            return [Vector(Value("t", 1), 1)]
        return [Vector(Plus(Value("t", 1), t.part * self._h), 1)]

    # -- operations of a step ---------------------------------------------------------------------

    def drive(self, t: Any, q: Any, v: Any) -> None:
        """Nothing is driven."""

    def accelerations(self, t: Instant, q: Vector, v: Vector, tau: Vector, driving: None) -> Vector:
        """Accelerations under the forces."""
        assert self._dynamics is not None
        return self.called(self._dynamics, q, v, tau, *self._time_input(self._dynamics, t))[0]

    def close(self, t: Instant, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The state with its loops closed."""
        return (q, v) if self._corrections is None else close_loops(self, t, q, v)

    def corrections(self, t: Instant, q: Vector, v: Vector) -> tuple[Vector, Vector, Vector]:
        """One step of Newton's method: corrections, and the gap before."""
        assert self._corrections is not None
        dq, dv, gap = self.called(self._corrections, q, v, *self._time_input(self._corrections, t))
        return dq, dv, gap

    def where_open(self, gap: Vector, moved: Vector, q: Vector) -> Vector:
        """The corrected position: it is asked for only while a gap is open."""
        return moved

    def while_open(self, correct: Correct, q: Vector, found: Any) -> tuple[Vector, Any]:
        """Corrections that are repeated while the gap is open."""
        carried: Sequence[Vector] = (q, *found)
        names = [self._name(x) for x in ("q", "dq", "dv", "gap")]
        q, *found = (self.assign(x, y) for x, y in zip(names, carried, strict=True))

        def body() -> None:
            moved, corrections = correct(q, tuple(found))
            for name, x in zip(names, (moved, *corrections), strict=True):
                self.assign(name, x)

        gap = found[2].expression
        assert isinstance(gap, Value)
        statements = self._within(body)
        self._statements.append(WhileAbove(gap, self._drift, self._most, statements))
        return q, tuple(found)

    def _within(self, write: Callable[[], None]) -> tuple[Statement, ...]:
        """The statements that a function writes down; what they assign is not used after them."""
        outer, self._statements, self._kept = self._statements, [], []
        write()
        for vector, expression in self._kept:
            vector.expression = expression
        inner, self._statements = self._statements, outer
        return tuple(inner)


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
