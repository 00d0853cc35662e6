"""Tracing of controllers: the symbols they are called with, and the graph of their equations.

A controller with ``symbolic = True`` does nothing but arithmetic with its sample and state, so that
one call with arrays of symbols gives its equations. Functions of time that are not symbolic, such
as a reference, are evaluated beforehand: their values are further inputs, called signals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import TraceGraph, Untraceable, symbols
from robodyn.errors import ActuationError, SingularError
from robodyn.robot import Robot
from robodyn.simulation.control.signals import (
    Intervals,
    SampleSignal,
    Signal,
    function_of_intervals,
)
from robodyn.symbolic.graph import INPUT, Graph, Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of

#: First number of the inputs of each kind while a controller is traced.
OF_GAINS, OF_SAMPLES, OF_STATE = 1 << 30, 1 << 40, 1 << 50


#: Errors that tracing raises where there is no straight-line code for a controller.
NO_CODE = (ActuationError, SingularError, Untraceable)


class SymbolicTime(Scalar):
    """The time while a controller is traced."""

    __slots__ = ("trace",)

    trace: Trace

    def sampled(
        self,
        name: str,
        function: Callable[[float], Any],
        of: tuple[Any, ...],
        at_times: Callable[[FloatArray], Any] | None = None,
    ) -> tuple[Array, ...]:
        """Symbols for the values of a function of time: one array or a tuple of them.

        of: The objects that determine the function: for the same objects, symbols are the same.
        at_times, optional: The same for many times at once, as of a `Signal`.
        """
        shapes = tuple(map(np.shape, function(0.0)))
        sizes = list(map(math.prod, shapes))
        numbers = self.trace.signal(name, shapes, function, of, at_times)
        parts = np.split(numbers, np.cumsum(sizes)[:-1])
        return tuple(x.reshape(shape) for x, shape in zip(parts, shapes, strict=True))


class SymbolicInterval(Scalar):
    """The time since the sample before while a controller is traced.

    intervals: Its values, as `Intervals`.
    """

    __slots__ = ("intervals", "trace")

    trace: Trace
    intervals: Intervals

    def function(self, function: Callable[[FloatArray], FloatArray]) -> Any:
        """Symbols for the values of a function of this time."""
        return self.trace.of_interval(function, self.intervals)


class Trace:
    """The trace of a controller: its symbols, and the graph of its equations.

    times (n,), optional [s]: All times at which the controller is sampled.
    step [s], optional: The time between samples, if they are evenly spaced.
    q, v, applied (nq,), (nv,), (nv,): State of the robot, and forces that have acted since the
        sample before.
    for_these_times: Whether the equations depend on the times.
    """

    def __init__(
        self, robot: Robot, times: FloatArray | None = None, step: float | None = None
    ) -> None:
        nq, nv = robot.nq, robot.nv
        self.graph, self._times, self.step = TraceGraph(), times, step
        self.for_these_times = False
        self.q, self.v = symbols(self.graph, 0, nq), symbols(self.graph, nq, nv)
        self.t = SymbolicTime(self.graph, edge_of(self.graph, symbols(self.graph, nq + nv, 1)[0]))
        self.t.trace = self
        self.applied = symbols(self.graph, nq + nv + 1, nv)
        self._own = [
            (Port("q", (nq,), "rad, m"), 0),
            (Port("v", (nv,), "rad/s, m/s"), nq),
            (Port("t", (), "s"), nq + nv),
            (Port("applied", (nv,), "N m, N"), nq + nv + 1),
        ]
        self._next, self._next_of_samples = nq + 2 * nv + 1, OF_SAMPLES
        self.signals: list[Signal] = []
        self.sample_signals: list[SampleSignal] = []
        self._places: list[tuple[Port, int]] = []
        self._sample_places: list[tuple[Port, int]] = []
        self._gain_places: list[tuple[Port, int]] = []
        self._known: dict[Any, tuple[Any, Array]] = {}
        self._rates = robot.function("integrate").program.rates

    @property
    def times(self) -> FloatArray | None:
        """All times of samples; equations that use them hold for these times alone."""
        self.for_these_times = True
        return self._times

    def signal(
        self,
        name: str,
        shapes: tuple[tuple[int, ...], ...],
        function: Callable[[float], Any],
        of: tuple[Any, ...],
        at_times: Callable[[FloatArray], Any] | None = None,
    ) -> Array:
        """Symbols for a function of time that returns arrays, shape (numbers of all,)."""
        size = sum(map(math.prod, shapes))
        key = name, size, *map(id, of)
        if key not in self._known:
            signal = Signal(f"{name}{len(self.signals)}", size, function, shapes, at_times)
            self.signals.append(signal)
            self._places.append((Port(signal.name, (size,)), self._next))
            self._known[key] = of, symbols(self.graph, self._next, size)
            self._next += size
        return self._known[key][1]

    def sample_signal(
        self, name: str, size: int, function: Callable[[FloatArray, int, int], FloatArray]
    ) -> Array:
        """Symbols for a function of the times of samples, shape (size,)."""
        signal = SampleSignal(f"{name}{len(self.sample_signals)}", size, function)
        first = self._next_of_samples
        self.sample_signals.append(signal)
        self._sample_places.append((Port(signal.name, (size,)), first))
        self._next_of_samples += size
        return symbols(self.graph, first, size)

    def interval(self, intervals: Intervals) -> SymbolicInterval:
        """A symbol for the time since the sample before."""
        number = self.sample_signal("interval", 1, intervals)[0]
        made = SymbolicInterval(self.graph, number.edge)
        made.trace, made.intervals = self, intervals
        return made

    def of_interval(
        self, function: Callable[[FloatArray], FloatArray], intervals: Intervals
    ) -> Any:
        """Symbols for a function of the time since the sample before."""
        shape = np.shape(function(np.ones(1)))[1:]
        own = partial(function_of_intervals, function, intervals)
        numbers = self.sample_signal("interval", int(np.prod(shape)), own).reshape(shape)
        return numbers if shape else numbers[()]

    def gains(self, size: int) -> Array:
        """Symbols for gains of the controller, which are an input of its program, shape (size,)."""
        self._gain_places = [(Port("gains", (size,)), OF_GAINS)]
        return symbols(self.graph, OF_GAINS, size)

    def state(self, size: int) -> Array:
        """Symbols for the state of the controller, shape (size,)."""
        return symbols(self.graph, OF_STATE, size)

    def forget_unneeded(self, results: Sequence[Number]) -> bool:
        """Drop signals of the times of samples that no equation needs.

        Returns function: Whether equations need nothing but q, v, t and signals.
        """
        edges = tuple(edge_of(self.graph, x) for x in results)
        needed = set(Program("", (), (), self.graph, edges).needed)
        pairs = zip(self.sample_signals, self._sample_places, strict=True)
        kept = [
            (signal, (port, first))
            for signal, (port, first) in pairs
            if needed.intersection(range(first, first + port.size))
        ]
        self.sample_signals = [signal for signal, _ in kept]
        self._sample_places = [place for _, place in kept]
        applied, first = self._own[3]
        after = max(needed, default=0) >= OF_SAMPLES
        return not (after or needed.intersection(range(first, first + applied.size)))

    def program(
        self, name: str, outputs: tuple[Port, ...], results: Sequence[Number], state_size: int
    ) -> Program:
        """The equations as a program of q, v, t, applied, signals, gains and a state."""
        state = Port("state", (state_size,)), OF_STATE
        places = [*self._own, *self._places, *self._sample_places, *self._gain_places, state]
        return self._of(places, name, outputs, results)

    def function_program(
        self, name: str, outputs: tuple[Port, ...], results: Sequence[Number]
    ) -> Program:
        """Equations that need nothing else as a program of q, v, t, signals and gains."""
        places = [*self._own[:3], *self._places, *self._gain_places]
        return self._of(places, name, outputs, results)

    def _of(
        self,
        places: Sequence[tuple[Port, int]],
        name: str,
        outputs: tuple[Port, ...],
        results: Sequence[Number],
    ) -> Program:
        edges = tuple(edge_of(self.graph, x) for x in results)
        graph, ports = _renumbered(self.graph, _numbers_of(places)), tuple(x for x, _ in places)
        return Program(name, ports, outputs, graph, edges, self._rates)


def _numbers_of(places: Sequence[tuple[Port, int]]) -> dict[int, int]:
    """New numbers of inputs, of ports one after the other."""
    found: dict[int, int] = {}
    for port, first in places:
        found.update({first + k: len(found) + k for k in range(port.size)})
    return found


def _renumbered(graph: Graph, numbers: Mapping[int, int]) -> Graph:
    """The graph with its inputs renumbered; inputs without a new number must not be used."""
    other = Graph()
    other.op, other.b, other.value = graph.op, graph.b, graph.value
    pairs = zip(graph.op, graph.a, strict=True)
    other.a = [numbers.get(a, 0) if op == INPUT else a for op, a in pairs]
    return other
