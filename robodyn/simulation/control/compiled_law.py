"""Controllers as programs: traced by calling them with symbols in place of numbers.

A controller that says so (``symbolic = True``) does nothing with time and state but arithmetic, so
that one call with arrays of symbols writes down its equations. They become machine code that a step
of a simulation calls. What a controller asks of functions that only Python knows, such as a
reference that is not symbolic, is sampled beforehand: these are its signals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.errors import ActuationError, ShapeError, SingularError
from robodyn.robot import Robot
from robodyn.simulation.control.controller_cache import Code, known_code
from robodyn.simulation.control.tracing import (
    Signal,
    SymbolicTime,
    TraceGraph,
    Untraceable,
    symbols,
)
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of

__all__ = ["NO_LAW", "Law", "begin_trace", "law_of", "one_a_speed"]

#: What tracing raises where there is no straight-line code for a controller.
NO_LAW = (ActuationError, SingularError, Untraceable)


@dataclass(frozen=True, eq=False)
class Law:
    """A controller as a function, which is a controller as well.

    Attributes
    ----------
    program : Program
        q, v, the time and the signals -> tau.
    code : Code
        The machine code that does it.
    signals : tuple of Signal
    controller : callable
        What was traced: it says what is wrong where the function gives no numbers.
    """

    program: Program
    code: Code
    signals: tuple[Signal, ...]
    controller: Callable[[float, FloatArray, FloatArray], Any]

    #: Numbers that it remembers.
    memory: ClassVar[int] = 0

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        function, constants = self.code
        tau = function(q, v, t, *(signal.at(t) for signal in self.signals), *constants)
        return np.asarray(tau if all_finite(tau) else self.controller(t, q, v))

    @cached_property
    def function(self) -> Function:
        """The same as a function of its own."""
        return Function(self.program)

    @property
    def extras(self) -> int:
        """Inputs besides the state: the time, the signals, and constants if there are any."""
        return 1 + len(self.signals) + len(self.code.constants)

    def address(self, batch: bool) -> int:
        """Address of ``rows(begin, end, pointers, strides)``."""
        return self.code.function.rows_address(batch)

    def tables(self, times: FloatArray, first: int, stop: int) -> list[tuple[FloatArray, int]]:
        """These at some instants, and how many numbers there are from one instant to the next."""
        tables = signal_tables(self.signals, times, first, stop)
        return tables + [(x, 0) for x in self.code.constants]


def signal_tables(
    signals: tuple[Any, ...], times: FloatArray, first: int, stop: int
) -> list[tuple[FloatArray, int]]:
    """The time and signals at some instants, and how many numbers each has at one."""
    tables = [(np.ascontiguousarray(x.rows(times, first, stop)), x.size) for x in signals]
    return [(np.ascontiguousarray(times[first:stop]), 1), *tables]


def law_of(robot: Robot, controller: Any) -> Law | None:
    """The law of a controller; none if it is not symbolic, or has no straight-line code.

    It is written down anew each time, as a controller may hold numbers that have changed. Where it
    is the same program as before, so is its machine code.

    Raises
    ------
    ShapeError
        If the controller returns anything but symbols and numbers, one a speed.
    """
    if not getattr(controller, "symbolic", False):
        return None
    fresh = getattr(controller, "fresh", None)
    if fresh is not None and fresh() is not controller:  # what remembers is no function of a state
        return None
    traced = _traced(robot, controller)
    if traced is None:
        return None
    program, signals = traced
    return Law(program, known_code(program), signals, controller)


def begin_trace(robot: Robot, kind: type[Any], graph: TraceGraph) -> tuple[Any, Any, Any]:
    """The time, of a kind of `SymbolicTime`, and the position and velocity of a trace."""
    nq, nv = robot.nq, robot.nv
    q, v = symbols(graph, 0, nq), symbols(graph, nq, nv)
    t = kind(graph, edge_of(graph, symbols(graph, nq + nv, 1)[0]))
    t.ports = [Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s"), Port("t", (), "s")]
    t.signals = []
    return t, q, v


def _traced(robot: Robot, controller: Any) -> tuple[Program, tuple[Signal, ...]] | None:
    t, q, v = begin_trace(robot, SymbolicTime, TraceGraph())
    try:
        tau = controller(t, q, v)
    except NO_LAW:
        return None
    edges = tuple(edge_of(t.graph, x) for x in one_a_speed(tau, robot.nv))
    outputs = (Port("tau", (robot.nv,), "N m, N"),)
    rates = robot.function("integrate").program.rates
    t.graph.forget()
    return Program("control", tuple(t.ports), outputs, t.graph, edges, rates), tuple(t.signals)


def one_a_speed(tau: Any, nv: int) -> list[Number]:
    """Symbols and numbers that a controller returned."""
    try:
        given = [*np.array(tau, object).flat] if np.shape(tau) == (nv,) else None
    except ValueError:  # lists of different lengths
        given = None
    kinds = (Scalar, int, float, np.integer, np.floating, np.bool_)
    if given is None or np.ma.is_masked(tau) or not all(isinstance(x, kinds) for x in given):
        shape = "" if given is not None or not isinstance(tau, np.ndarray) else f" {tau.shape}"
        raise ShapeError(
            f"the controller, which says that it is symbolic, returned {type(tau).__name__}{shape} "
            f"for symbols, expected symbols and numbers of shape ({nv},)",
            name="controller",
            given=tau,
            expected=(nv,),
        )
    return given
