"""The operations of a step that are written down as statements of a procedure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robodyn.exporting.unit.procedure import (
    Assign,
    Call,
    Expression,
    Plus,
    Routine,
    Statement,
    Times,
    Value,
    WhileAbove,
)
from robodyn.simulation.integrators.method import FLAT, Coordinates
from robodyn.simulation.step.operations.step import CORRECTIONS, Correct, Instant, close_loops
from robodyn.tolerances import LOOP_DRIFT


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
