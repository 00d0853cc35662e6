"""What all one-step methods have in common.

Coordinates such as quaternions do not add. Within a step the position is therefore written as
``integrate(q, u)`` with a joint twist ``u``, which does add, and a method is applied to ``u`` and
``v`` [Munthe-Kaas 1998]. For coordinates that add, this is the method of the book.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from robodyn.array_types import FloatArray
from robodyn.errors import (
    AssemblyError,
    InconsistentStateError,
    RobodynError,
    ShapeError,
    SingularError,
)
from robodyn.robot import Robot
from robodyn.simulation.loads.loads import Loads

__all__ = [
    "BREAKDOWNS",
    "OF_THE_MOTION",
    "Acceleration",
    "Advance",
    "Coordinates",
    "Integrator",
    "Motion",
    "Slopes",
    "Solver",
    "Start",
    "coordinates",
    "coordinates_of",
    "is_breakdown",
]

#: (t, q, v) -> acceleration.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Coordinates:
    """How the coordinates of a robot move.

    Attributes
    ----------
    move : callable
        ``(q, u)`` -> position after moving with ``u``.
    rate : callable
        ``(u, v)`` -> rate of ``u`` when the robot moves with speed ``v``.
    flat : bool
        Coordinates add: ``q + u``, and ``v`` is their rate.
    """

    move: Callable[[FloatArray, FloatArray], FloatArray]
    rate: Callable[[FloatArray, FloatArray], FloatArray]
    flat: bool = False


def coordinates(
    move: Callable[[Any, Any], Any] | None = None, rate: Callable[[Any, Any], Any] | None = None
) -> Coordinates:
    """Coordinates that move and turn as functions say; without functions those that add."""
    if move is None or rate is None:
        return Coordinates(operator.add, lambda u, v: v, flat=True)
    return Coordinates(move, rate)


def coordinates_of(robot: Robot) -> Coordinates:
    """The coordinates of a robot, for numbers; those that add are added without a call of it."""
    if robot.joints.coordinates_add:
        return coordinates()
    return coordinates(robot.integrate, robot.tangent_rate)


class Start(NamedTuple):
    """The state at the start of a step, and its acceleration."""

    t: float
    q: FloatArray
    v: FloatArray
    a: FloatArray


class Integrator(Protocol):
    """A method of fixed steps that computes new states from known ones only.

    Its step is sums and products of vectors and calls of what it is given, nothing else, so that
    the same text computes with numbers, with arrays of many motions and with symbols.
    """

    @property
    def order(self) -> int:
        """The error of a motion is of this order in the step."""

    def step(
        self, acceleration: Acceleration, coordinates: Coordinates, start: Start, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step of ``h`` [s]."""


#: ``(q, v, tau)`` -> derivatives of accelerations with respect to q and v, shape (nv, nv) each.
Slopes = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Motion:
    """What moves in a step, for methods that look at more than known accelerations.

    Attributes
    ----------
    loads : Loads
        All that acts on the robot besides the forces, and the robot.
    acceleration : callable
        ``(t, q, v)`` -> accelerations under the forces that are held in the step.
    close : callable
        ``(t, q, v)`` -> the state with driven joints where they have to be and loops closed.
    coordinates : Coordinates
    tau : ndarray, shape (nv,) [N m, N]
        The forces that are held.
    until : float [s]
        How far paths and wrenches may be asked for.
    slopes : callable, optional
        Exact derivatives of the accelerations, where there are some.
    tell : callable
        ``(t, what)``: notes in the motion what a method has chosen.
    """

    loads: Loads
    acceleration: Acceleration
    close: Callable[[float, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    coordinates: Coordinates
    tau: FloatArray
    until: float
    slopes: Slopes | None = None
    tell: Callable[[float, str], None] = lambda t, what: None

    def start(self, t: float, q: FloatArray, v: FloatArray) -> Start:
        """A state at which a step begins, with its acceleration."""
        return Start(t, q, v, self.acceleration(t, q, v))


#: ``(motion, start, h)`` -> the state after ``h`` [s], of one motion.
Advance = Callable[[Motion, Start, float], tuple[FloatArray, FloatArray]]


class Solver(Protocol):
    """A method that solves for new states, or chooses its own steps between two samples."""

    @property
    def order(self) -> int:
        """As of `Integrator`; of steps that it chooses itself, the order of those."""

    def refusal(self, loads: Loads) -> str:
        """Why it cannot move a robot under loads, in words after its name; empty if it can."""

    def begin(self) -> Advance:
        """What moves one motion, from sample to sample."""


#: Arrays that a motion makes itself, and that are not finite where it breaks down.
OF_THE_MOTION = {"q", "v", "tau", "force", "dv", "u", "a_controlled", "tau_free"}

#: What says that a motion cannot go on from where it has come.
BREAKDOWNS = AssemblyError, InconsistentStateError, SingularError


def is_breakdown(error: RobodynError) -> bool:
    """Whether a motion has led to an error, and not what a user gave."""
    if isinstance(error, ShapeError):
        return error.name in OF_THE_MOTION
    return isinstance(error, BREAKDOWNS)
