"""One step of a robot in time: the only implementation, for numbers, symbols and code.

It adds and scales values; `Operations` do everything else. With those of `numeric.py` it computes
with numbers, with `symbolic.py` it becomes a function of straight-line code, with
`step/machine_code/operations.py` the machine code of many steps of many robots, and with
`sensitivity/dual_operations.py` it computes derivatives, too.

Integrators compute with the time as with numbers while a step is traced: ``t + 0.5 * h`` is an
`Instant`, which is known as a fraction of the step; ``h * v`` is a value of the traced program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import FLAT, Coordinates, Integrator, Start

#: Largest number of corrections that close loops, before the last one.
CORRECTIONS = 8

#: Largest sum of squares of a state [m^2, rad^2, ...]. Its fourth power, which occurs in
#: constraints over speeds and their determinants, is still finite.
DIVERGED = 1e60


#: Function (position, corrections) -> the corrected position, and the corrections that it needs.
Correct = Callable[[Any, Any], tuple[Any, Any]]


class Operations(Protocol):
    """The operations that a step needs, over one kind of values.

    Values are positions, speeds, and one number for each state. Times are computed by the
    integrator from the start and the duration of the step. `drive` and `where_open` may write into
    the positions and velocities that they are given.
    """

    @property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""

    def drive(self, t: Any, q: Any, v: Any) -> Any:
        """Set driven joints to their paths at a time, in ``q`` and ``v`` themselves.

        The result, such as the accelerations of these joints, is passed to `accelerations`.
        """

    def accelerations(self, t: Any, q: Any, v: Any, tau: Any, driving: Any) -> Any:
        """Accelerations under all loads; ``driving`` is what `drive` returned."""

    def close(self, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """The state at the end of a step with its loops closed by `close_loops`.

        Loops with stabilisation are not closed, but may be checked.
        """

    def corrections(self, t: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """One step of Newton's method: corrections of position and velocity, and the gap before."""

    def where_open(self, gap: Any, moved: Any, q: Any) -> Any:
        """``moved`` for states whose gap is above `LOOP_DRIFT`, ``q`` for others."""

    def while_open(self, correct: Correct, q: Any, found: Any) -> tuple[Any, Any]:
        """``q, found = correct(q, found)`` while a gap is above `LOOP_DRIFT`, `CORRECTIONS` times.

        ``found`` is the result of `corrections`. With symbols, the number of corrections is fixed,
        as straight-line code has no branches.
        """


def step(
    operations: Operations, method: Integrator, t: Any, q: Any, v: Any, tau: Any, h: Any, first: Any
) -> tuple[Any, Any]:
    """The state after a step of length ``h``, in which the forces ``tau`` are held.

    t, q, v, tau, h: Time and state at the start, with driven joints on their paths.
    first: Accelerations at the start.
    """

    def acceleration(t: Any, q: Any, v: Any) -> Any:
        # in the stage itself, as driven speeds may move other coordinates
        driving = operations.drive(t, q, v)
        return operations.accelerations(t, q, v, tau, driving)

    q, v = method.step(acceleration, operations.coordinates, Start(t, q, v, first), h)
    return end_of_step(operations, t + h, q, v)


def end_of_step(operations: Operations, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """The state with driven joints on their paths at a time, and loops closed."""
    operations.drive(t, q, v)
    return operations.close(t, q, v)


def close_loops(operations: Operations, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """The state with its loops closed by joints that are not driven.

    Positions are corrected by Newton's method, with corrections of least kinetic energy, each state
    until its own loops are closed, so that results do not depend on other states of a batch. Then
    velocities are corrected.
    """
    move = operations.coordinates.move

    def correct(q: Any, found: Any) -> tuple[Any, Any]:
        dq, _, gap = found
        q = operations.where_open(gap, move(q, dq), q)
        return q, operations.corrections(t, q, v)

    q, (dq, dv, _) = operations.while_open(correct, q, operations.corrections(t, q, v))
    return move(q, dq), v + dv  # the last correction is known already


@dataclass(frozen=True)
class Instant:
    """An instant of a step.

    part: 0 at its start, 1 at its end.
    """

    part: float

    def __add__(self, other: Duration) -> Instant:
        return Instant(self.part + other.part)


@dataclass(frozen=True)
class Duration:
    """A fraction of the duration of the step.

    seconds: The duration in the traced program, by which values are multiplied.
    """

    part: float
    seconds: Any

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            return Duration(self.part * other, self.seconds * other)
        return self.seconds * other

    __rmul__ = __mul__


def instants_of(method: Integrator) -> tuple[float, ...]:
    """Fractions of a step at which a method evaluates accelerations, the start first."""
    seen = {0.0: None}

    def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        seen[t] = None
        return v

    zero = np.zeros(1)
    method.step(acceleration, FLAT, Start(0.0, zero, zero, zero), 1.0)
    return tuple(seen)


def with_end(instants: tuple[float, ...]) -> tuple[float, ...]:
    """These fractions, and the end of the step as the last one."""
    return instants if instants[-1] == 1.0 else (*instants, 1.0)
