"""Controllers as programs: traced by calling them with symbols in place of numbers.

A controller that says so (``symbolic = True``) does nothing with time and state but arithmetic, so
that one call with arrays of symbols writes down its equations. They become machine code that a step
of a simulation calls. What a controller asks of functions that only Python knows, such as a
reference that is not symbolic, is sampled beforehand: these are its signals.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.errors import ActuationError, ShapeError, SingularError
from robodyn.robot import Robot
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Scalar, edge_of, inputs

__all__ = ["Law", "ManyMotions", "Signal", "SymbolicTime", "law_of"]


@dataclass(frozen=True, eq=False)
class Signal:
    """An input of a controller that is a function of time.

    Attributes
    ----------
    name : str
    size : int
        Numbers at an instant.
    function : callable
        Time [s] -> arrays, which hold that many numbers together.
    """

    name: str
    size: int
    function: Callable[[float], tuple[FloatArray, ...]]

    def at(self, t: float) -> FloatArray:
        """The numbers at an instant."""
        return np.concatenate([np.ravel(np.asarray(x, float)) for x in self.function(t)])


class SymbolicTime(Scalar):
    """The time while a controller is traced; it takes note of the signals that are asked for."""

    __slots__ = ("ports", "signals")

    ports: list[Port]
    signals: list[Signal]

    def sampled(self, name: str, function: Callable[[float], Any]) -> tuple[Array, ...]:
        """Symbols for what a function of time returns: one array or a tuple of them."""
        shapes = [np.shape(x) for x in function(0.0)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        signal = Signal(f"{name}{len(self.signals)}", sum(sizes), function)
        first = sum(port.size for port in self.ports)
        self.ports.append(Port(signal.name, (signal.size,)))
        self.signals.append(signal)
        numbers = _symbols(self.graph, first, signal.size)
        ends = np.cumsum(sizes)
        parts = np.split(numbers, ends[:-1])
        return tuple(x.reshape(shape) for x, shape in zip(parts, shapes, strict=True))


def _symbols(graph: Graph, first: int, count: int) -> Array:
    array = np.empty(count, object)
    array[:] = inputs(graph, first, count)
    return array


class _Undecided(Graph):
    """What a controller writes into, whose symbols it takes for numbers."""

    __slots__ = ()

    decided = False


@dataclass(frozen=True, eq=False)
class Law:
    """A controller as a function, which is a controller as well.

    Attributes
    ----------
    function : Function
        q, v, the time and the signals -> tau.
    signals : tuple of Signal
    controller : callable
        What was traced: it says what is wrong where the function gives no numbers.
    """

    function: Function
    signals: tuple[Signal, ...]
    controller: Callable[[float, FloatArray, FloatArray], Any]

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        tau = self.function(q, v, t, *(signal.at(t) for signal in self.signals))
        return np.asarray(tau if all_finite(tau) else self.controller(t, q, v))

    @property
    def extras(self) -> int:
        """Inputs besides the state: the time and the signals."""
        return 1 + len(self.signals)

    def address(self, batch: bool) -> int:
        """Address of ``rows(begin, end, pointers, strides)``."""
        return self.function.rows_address(batch)

    def tables(self, times: FloatArray) -> list[tuple[FloatArray, int]]:
        """The time and the signals at some instants, and how many numbers each has at one."""
        at = times.tolist()
        signals = [np.array([s.at(t) for t in at]) for s in self.signals]
        return [(np.ascontiguousarray(times), 1), *((x, x.shape[1]) for x in signals)]


#: The latest law of each controller, for its machine code.
_latest: weakref.WeakKeyDictionary[Any, Law] = weakref.WeakKeyDictionary()


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
    traced = _traced(robot, controller)
    if traced is None:
        return None
    program, signals = traced
    with suppress(TypeError):  # of a controller without a hash, or without weak references
        known = _latest.get(controller)
        if known is None or not _same(known.function.program, program):
            known = _latest[controller] = Law(Function(program), signals, controller)
        return Law(known.function, signals, controller)
    return Law(Function(program), signals, controller)


def _same(one: Program, other: Program) -> bool:
    """Whether two programs have the same operations, in the same order."""
    if (one.inputs, one.results) != (other.inputs, other.results):
        return False
    a, b = one.graph, other.graph
    return (a.op, a.a, a.b, a.value) == (b.op, b.a, b.b, b.value)


class ManyMotions(Exception):
    """What a controller follows is that of many motions: it is no law of one."""


def _traced(robot: Robot, controller: Any) -> tuple[Program, tuple[Signal, ...]] | None:
    nq, nv = robot.nq, robot.nv
    graph = _Undecided()
    t = SymbolicTime(graph, 2 * graph.node(1, nq + nv))
    t.ports = [Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s"), Port("t", (), "s")]
    t.signals = []
    try:
        tau = controller(t, _symbols(graph, 0, nq), _symbols(graph, nq, nv))
    except (ActuationError, SingularError, ManyMotions):  # there is no straight-line code for it
        return None
    edges = tuple(edge_of(graph, x) for x in _one_a_speed(tau, nv))
    outputs = (Port("tau", (nv,), "N m, N"),)
    rates = robot.function("integrate").program.rates
    program = Program("control", tuple(t.ports), outputs, graph, edges, rates)
    return program, tuple(t.signals)


def _one_a_speed(tau: Any, nv: int) -> list[Any]:
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
