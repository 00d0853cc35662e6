"""Tracing of controllers: the symbols they are called with, and the graph of their equations.

A controller with ``symbolic = True`` does nothing but arithmetic with its sample and state, so that
one call with arrays of symbols gives its equations. Functions of time that are not symbolic, such
as a reference, are evaluated beforehand: their values are further inputs, called signals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import TraceGraph, Untraceable, symbols
from robodyn.errors import ActuationError, ShapeError, SingularError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of

#: (all sample times, first, stop) -> times since the sample before, shape (stop - first,) [s].
Intervals = Callable[[FloatArray, int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Signal:
    """An input of a controller that is a function of time.

    size: Numbers at an instant.
    function: Time [s] -> arrays, which hold that many numbers together.
    shapes: Of these arrays.
    at_times, optional: The same for many times, shape (n,) [s]: arrays with n in front of their
        shapes.
    """

    name: str
    size: int
    function: Callable[[float], tuple[FloatArray, ...]]
    shapes: tuple[tuple[int, ...], ...]
    at_times: Callable[[FloatArray], tuple[FloatArray, ...]] | None = None

    @property
    def has_same_shapes(self) -> bool:
        """Whether arrays at time zero have the shapes that they had."""
        return tuple(map(np.shape, self.function(0.0))) == self.shapes

    def at(self, t: float) -> FloatArray:
        """The numbers at an instant."""
        return np.concatenate([np.ravel(np.asarray(x, float)) for x in self.function(t)])

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all sample times, shape (stop - first, size)."""
        if self.at_times is None:
            return np.array([self.at(t) for t in times[first:stop].tolist()])
        found, n = self.at_times(times[first:stop]), stop - first
        expected = [(n, *shape) for shape in self.shapes]
        if [np.shape(x) for x in found] != expected:
            raise ShapeError(
                f"at_times of the {self.name.rstrip('0123456789')} of a controller returned shapes "
                f"{[np.shape(x) for x in found]} for {n} times, expected {expected}",
                name="at_times",
                expected=expected,
            )
        return np.concatenate([np.reshape(x, (n, -1)) for x in found], axis=1, dtype=float)


@dataclass(frozen=True, eq=False)
class SampleSignal:
    """An input of a controller that depends on when samples are taken.

    size: Numbers at a sample.
    function: (all sample times [s], first, stop) -> numbers of these samples, shape (stop - first,
        ...).
    """

    name: str
    size: int
    function: Callable[[FloatArray, int, int], FloatArray]

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all sample times, shape (stop - first, size)."""
        found = self.function(times, first, stop)
        return np.asarray(found, float).reshape(stop - first, self.size)


def steps_between(times: FloatArray, first: int, stop: int) -> FloatArray:
    """Times since the sample before, of samples at all of these times; zero at the first one."""
    return np.diff(times[first:stop], prepend=times[max(first - 1, 0)])


def function_of_intervals(
    function: Callable[[FloatArray], FloatArray],
    intervals: Intervals,
    times: FloatArray,
    first: int,
    stop: int,
) -> FloatArray:
    """Values of a function for intervals, most of which are equal: it is called once for each."""
    different, which = np.unique(intervals(times, first, stop), return_inverse=True)
    return np.asarray(function(different))[which]


#: First number of the inputs of each kind while a controller is traced.
OF_GAINS, OF_READINGS, OF_SAMPLES, OF_STATE = 1 << 30, 1 << 35, 1 << 40, 1 << 50


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
    takes_readings: Whether what sensors show is an input, not computed from the state.
    q, v, applied (nq,), (nv,), (nv,): State of the robot, and forces that have acted since the
        sample before.
    signals: Functions of time; ``sample_signals``: of the times of samples.
    for_these_times: Whether the equations depend on the times.
    """

    def __init__(
        self,
        robot: Robot,
        times: FloatArray | None = None,
        step: float | None = None,
        takes_readings: bool = False,
    ) -> None:
        nq, nv, self.takes_readings = robot.nq, robot.nv, takes_readings
        self.graph, self._times, self.step = TraceGraph(), times, step
        self.for_these_times = False
        self.q, self.v = symbols(self.graph, 0, nq), symbols(self.graph, nq, nv)
        self.t = SymbolicTime(self.graph, edge_of(self.graph, symbols(self.graph, nq + nv, 1)[0]))
        self.t.trace = self
        self.applied = symbols(self.graph, nq + nv + 1, nv)
        #: Inputs of programs, and the numbers of their first symbols.
        self._of_state = [
            (Port("q", (nq,), "rad, m"), 0),
            (Port("v", (nv,), "rad/s, m/s"), nq),
            (Port("t", (), "s"), nq + nv),
        ]
        self._of_applied = [(Port("applied", (nv,), "N m, N"), nq + nv + 1)]
        self._of_gains: list[tuple[Port, int]] = []
        self._of_readings: list[tuple[Port, int]] = []
        self.signals: list[Signal] = []
        self.sample_signals: list[SampleSignal] = []
        self._next, self._next_of_samples = nq + 2 * nv + 1, OF_SAMPLES
        self._first: dict[str, int] = {}
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
            self._known[key] = of, self._symbols(signal, self._next)
            self._next += size
        return self._known[key][1]

    def sample_signal(
        self, name: str, size: int, function: Callable[[FloatArray, int, int], FloatArray]
    ) -> Array:
        """Symbols for a function of the times of samples, shape (size,)."""
        signal = SampleSignal(f"{name}{len(self.sample_signals)}", size, function)
        self.sample_signals.append(signal)
        self._next_of_samples += size
        return self._symbols(signal, self._next_of_samples - size)

    def _symbols(self, signal: Signal | SampleSignal, first: int) -> Array:
        """New symbols of a signal, whose numbers begin there."""
        self._first[signal.name] = first
        return symbols(self.graph, first, signal.size)

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
        self._of_gains = [(Port("gains", (size,)), OF_GAINS)]
        return symbols(self.graph, OF_GAINS, size)

    def readings(self, ports: Iterable[Port]) -> Array:
        """Symbols for what sensors show, one sensor after the other: an input for each."""
        numbers = list[Array]()
        for port in ports:
            known = next((place for place in self._of_readings if place[0] == port), None)
            if known is None:
                known = port, OF_READINGS + sum(x.size for x, _ in self._of_readings)
                self._of_readings.append(known)
            numbers.append(symbols(self.graph, known[1], port.size))
        return np.concatenate(numbers)

    def sample_inputs(self, needed: Iterable[int]) -> tuple[str, ...]:
        """Inputs of programs that are a sample: sensors replace q and v, unless these are needed.

        needed: Numbers of the symbols that programs need; those of the state come first.
        """
        t = self._of_state[-1][1]
        used = {x for x in needed if x < t} if self._of_readings else range(t)
        state = (
            name
            for name, at in (("q", range(len(self.q))), ("v", range(len(self.q), t)))
            if used and not set(at).isdisjoint(used)
        )
        return ("t", *state, *(port.name for port, _ in self._of_readings))

    def state(self, size: int) -> Array:
        """Symbols for the state of the controller, shape (size,)."""
        return symbols(self.graph, OF_STATE, size)

    def forget_unneeded(self, results: Sequence[Number]) -> bool:
        """Drop signals of the times of samples that no equation needs.

        Returns function: Whether equations need nothing but q, v, t and signals.
        """
        edges = tuple(edge_of(self.graph, x) for x in results)
        needed = set(Program("", (), (), self.graph, edges).needed)
        self.sample_signals = [
            x for x in self.sample_signals if needed.intersection(_numbers_of(self._places([x])))
        ]
        after = max(needed, default=0) >= OF_SAMPLES
        return not (after or needed.intersection(_numbers_of(self._of_applied)))

    def program(
        self,
        name: str,
        outputs: tuple[Port, ...],
        results: Sequence[Number],
        state_size: int | None = None,
    ) -> Program:
        """The equations as a program of q, v, t, applied, signals, gains and a state.

        state_size: Of the state; ``None``: equations need q, v, t, signals of time and gains alone.
        """
        edges = tuple(edge_of(self.graph, x) for x in results)  # constants are new nodes
        applied = signals = state = list[tuple[Port, int]]()
        if state_size is not None:
            applied, signals = self._of_applied, self._places(self.sample_signals)
            state = [(Port("state", (state_size,)), OF_STATE)]
        signals = [*self._places(self.signals), *signals]
        places = [*self._of_state, *self._of_readings, *applied, *signals, *self._of_gains, *state]
        graph, numbers = Graph(), {k: new for new, k in enumerate(_numbers_of(places))}
        graph.op, graph.b, graph.value = self.graph.op, self.graph.b, self.graph.value
        pairs = zip(self.graph.op, self.graph.a, strict=True)
        graph.a = [numbers.get(a, 0) if op == ops.INPUT else a for op, a in pairs]
        return Program(name, tuple(port for port, _ in places), outputs, graph, edges, self._rates)

    def _places(self, signals: Iterable[Signal | SampleSignal]) -> list[tuple[Port, int]]:
        """Inputs that are signals, and the numbers of their first symbols."""
        return [(Port(x.name, (x.size,)), self._first[x.name]) for x in signals]


def _numbers_of(places: Iterable[tuple[Port, int]]) -> Iterator[int]:
    """The numbers of all symbols of inputs, one input after the other."""
    return (first + k for port, first in places for k in range(port.size))
