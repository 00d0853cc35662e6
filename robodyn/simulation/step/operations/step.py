"""One step of a robot in time: the only text of it.

It adds and scales values, and asks `Operations` for all else. With `numeric.py` it computes with
numbers, with `symbolic.py` it becomes a function of straight-line code, with
`step/machine_code/operations.py` the machine code of many steps of many robots, and with
`sensitivity/dual_operations.py` it carries derivatives along.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from robodyn.simulation.integrators.method import Coordinates, Integrator, Start

__all__ = ["CORRECTIONS", "DIVERGED", "Correct", "Operations", "close_loops", "end_of_step", "step"]

#: Corrections that close loops, at most, before the last one.
CORRECTIONS = 8

#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


#: (position, corrections) -> the corrected position, and the corrections that it needs.
Correct = Callable[[Any, Any], tuple[Any, Any]]


class Operations(Protocol):
    """What a step asks for, over values of one kind: positions, speeds and a number a state.

    A time is what the integrator makes of the start and of parts of the step. `drive` and
    `where_open` may write into the position and velocity that they are given.
    """

    @property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""

    def drive(self, t: Any, q: Any, v: Any) -> Any:
        """Put driven joints where their paths have them at a time, in ``q`` and ``v`` themselves.

        What it returns, such as the accelerations of these joints, is for `accelerations`.
        """

    def accelerations(self, t: Any, q: Any, v: Any, tau: Any, driving: Any) -> Any:
        """Accelerations under all loads; ``driving`` is what `drive` returned."""

    def close(self, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
        """The state at the end of a step with its loops closed, by `close_loops` if there are any.

        Where gains hold loops closed they are at most looked at.
        """

    def corrections(self, t: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """One step of Newton's method: corrections of position and velocity, and the gap before."""

    def where_open(self, gap: Any, moved: Any, q: Any) -> Any:
        """``moved`` of those states whose gap is above `LOOP_DRIFT`, ``q`` of the others."""

    def while_open(self, correct: Correct, q: Any, found: Any) -> tuple[Any, Any]:
        """``q, found = correct(q, found)`` while a gap is above `LOOP_DRIFT`, `CORRECTIONS` times.

        ``found`` is what `corrections` returns. Straight-line code does not know how large a gap
        will be: symbols are corrected a fixed number of times.
        """


def step(
    operations: Operations, method: Integrator, t: Any, q: Any, v: Any, tau: Any, h: Any, first: Any
) -> tuple[Any, Any]:
    """The state after a step of length ``h``, in which the forces ``tau`` are held.

    Parameters
    ----------
    operations : Operations
    method : Integrator
    t, q, v, tau, h
        Time and state at the start, with driven joints where they have to be.
    first
        Accelerations there.
    """

    def acceleration(t: Any, q: Any, v: Any) -> Any:
        # in the stage itself: other coordinates may move by driven speeds
        driving = operations.drive(t, q, v)
        return operations.accelerations(t, q, v, tau, driving)

    q, v = method.step(acceleration, operations.coordinates, Start(t, q, v, first), h)
    return end_of_step(operations, t + h, q, v)


def end_of_step(operations: Operations, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """The state with driven joints where they have to be at a time, and loops closed."""
    operations.drive(t, q, v)
    return operations.close(t, q, v)


def close_loops(operations: Operations, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """The state with its loops closed by joints that are not driven.

    Positions are corrected by Newton's method, as little in kinetic energy as can be, each state
    until its own loops are closed: what becomes of one depends on no other. Then velocities are.
    """
    move = operations.coordinates.move

    def correct(q: Any, found: Any) -> tuple[Any, Any]:
        dq, _, gap = found
        q = operations.where_open(gap, move(q, dq), q)
        return q, operations.corrections(t, q, v)

    q, (dq, dv, _) = operations.while_open(correct, q, operations.corrections(t, q, v))
    return move(q, dq), v + dv  # the last correction is there already
