"""Controllers as programs: traced by calling them with symbols in place of numbers.

A controller that says so (``symbolic = True``) does nothing with time and state but arithmetic, so
that one call with arrays of symbols writes down its equations. They become machine code that a step
of a simulation calls. What a controller asks of functions that only Python knows, such as a
reference that is not symbolic, is sampled beforehand: these are its signals.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.errors import ActuationError, SingularError
from robodyn.robot import Robot
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Scalar, edge_of, inputs

__all__ = ["Law", "Signal", "SymbolicTime", "law_of"]


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

    def tables(self, times: FloatArray) -> list[tuple[FloatArray, int]]:
        """The time and the signals at some instants, and how many numbers each has at one."""
        at = times.tolist()
        signals = [np.array([s.at(t) for t in at]) for s in self.signals]
        return [(np.ascontiguousarray(times), 1), *((x, x.shape[1]) for x in signals)]


_laws: weakref.WeakKeyDictionary[Any, tuple[int, int, Law | None]] = weakref.WeakKeyDictionary()


def law_of(robot: Robot, controller: Any) -> Law | None:
    """The law of a controller; none if it is not symbolic, or has no straight-line code."""
    if not getattr(controller, "symbolic", False):
        return None
    known = _laws.get(controller)
    if known is None or known[:2] != (robot.nq, robot.nv):
        known = robot.nq, robot.nv, _traced(robot, controller)
        _laws[controller] = known
    return known[2]


def _traced(robot: Robot, controller: Any) -> Law | None:
    nq, nv = robot.nq, robot.nv
    graph = Graph()
    t = SymbolicTime(graph, 2 * graph.node(1, nq + nv))
    t.ports = [Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s"), Port("t", (), "s")]
    t.signals = []
    try:
        tau = controller(t, _symbols(graph, 0, nq), _symbols(graph, nq, nv))
    except (ActuationError, SingularError):  # there is no straight-line code for this robot
        return None
    numbers = np.broadcast_to(np.asarray(tau, object), (nv,))
    edges = tuple(edge_of(graph, x) for x in numbers)
    outputs = (Port("tau", (nv,), "N m, N"),)
    rates = robot.function("integrate").program.rates
    program = Program("control", tuple(t.ports), outputs, graph, edges, rates)
    return Law(Function(program), tuple(t.signals), controller)
