"""One step of a robot in time: the only implementation, for numbers, symbols and code.

It adds and scales values; `Operations` do everything else. With those of `numeric.py` it computes
with numbers, with `symbolic.py` it becomes a function of straight-line code, with
`step/machine_code/operations.py` the machine code of many steps of many robots, and with
`sensitivity/dual_operations.py` it computes derivatives, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from robodyn.simulation.integrators.method import Coordinates, Integrator, Start

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
