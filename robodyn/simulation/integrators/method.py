"""What all one-step methods have in common.

Coordinates such as quaternions do not add. Within a step the position is therefore written as
``integrate(q, u)`` with a joint twist ``u``, which does add, and a method is applied to ``u`` and
``v`` [Munthe-Kaas 1998]. For coordinates that add, this is the method of the book.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from robodyn.array_types import FloatArray
from robodyn.errors import (
    AssemblyError,
    InconsistentStateError,
    RobodynError,
    ShapeError,
    SingularError,
)
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.loads.loads import Loads

#: (t, q, v) -> acceleration.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Coordinates:
    """How the coordinates of a robot change with its speeds.

    move: ``(q, u)`` -> position after moving with ``u``.
    rate: ``(u, v)`` -> rate of ``u`` when the robot moves with speed ``v``.
    flat: Coordinates add: ``q + u``, and ``v`` is their rate.
    """

    move: Callable[[Any, Any], Any]
    rate: Callable[[Any, Any], Any]
    flat: bool = False


#: Coordinates that add.
FLAT = Coordinates(operator.add, lambda u, v: v, flat=True)


def coordinates_of(robot: Robot) -> Coordinates:
    """The coordinates of a robot, for numbers; its methods are not called if they add."""
    if robot.joints.coordinates_add:
        return FLAT
    return Coordinates(robot.integrate, robot.tangent_rate)


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
        """Order of convergence."""

    def step(
        self, acceleration: Acceleration, coordinates: Coordinates, start: Start, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step of ``h`` [s]."""


#: ``(q, v, tau)`` -> derivatives of accelerations with respect to q and v, shape (nv, nv) each.
Slopes = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion in a step, for solvers that need more than accelerations.

    loads: All that acts on the robot besides the forces, and the robot.
    acceleration: ``(t, q, v)`` -> accelerations under the forces that are held in the step.
    close: ``(t, q, v)`` -> the state with driven joints where they have to be and loops closed.
    tau (nv,) [N m, N]: The forces that are held.
    until [s]: The last time at which paths and wrenches are defined.
    slopes, optional: Exact derivatives of the accelerations, where there are some.
    note: ``(t, what)``: adds a choice of the method to the events of the motion.
    """

    loads: Loads
    acceleration: Acceleration
    close: Callable[[float, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    coordinates: Coordinates
    tau: FloatArray
    until: float
    slopes: Slopes | None = None
    note: Callable[[float, str], None] = lambda t, what: None

    def start(self, t: float, q: FloatArray, v: FloatArray) -> Start:
        """A state at which a step begins, with its acceleration."""
        return Start(t, q, v, self.acceleration(t, q, v))


#: ``(motion, start, h)`` -> the state after ``h`` [s], of one motion.
Advance = Callable[[Motion, Start, float], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Solver:
    """A method that solves for new states, or chooses its own steps between two samples.

    order: Order of convergence; for steps that it chooses itself, of these.
    steps: Makes, with the tolerance, the function that moves one motion from sample to sample.
    tolerance [rad, m]: What a step may be wrong by; None: steps are of given length.
    has_tolerance: Steps may be as long as a tolerance allows.
    refusal: Why it cannot move a robot under some loads, as text after its name; else an empty one.
    """

    order: int
    steps: Callable[[Any], Advance]
    tolerance: float | None = 1e-8
    has_tolerance: bool = True
    refusal: Callable[[Loads], str] = lambda loads: ""

    def begin(self) -> Advance:
        """The function that moves one motion from sample to sample."""
        return self.steps(self.tolerance)


#: Names of arrays that a motion computes; if they are not finite, the motion has broken down.
OF_THE_MOTION = {"q", "v", "tau", "force", "dv", "u", "a_controlled", "tau_free"}

#: Errors that say that a motion cannot continue from its present state.
BREAKDOWNS = AssemblyError, InconsistentStateError, SingularError


def is_breakdown(error: RobodynError) -> bool:
    """Whether an error comes from the state of a motion, not from an argument of the user."""
    if isinstance(error, ShapeError):
        return error.name in OF_THE_MOTION
    return isinstance(error, BREAKDOWNS)
