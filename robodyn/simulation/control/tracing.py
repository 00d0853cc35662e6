"""The time while a controller is traced, and what it asks of functions that only Python knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, Scalar, inputs

__all__ = ["Signal", "SymbolicTime", "TraceGraph", "Untraceable", "inlined", "symbols"]


class TraceGraph(Graph):
    """What a controller writes into, whose symbols it takes for numbers.

    Attributes
    ----------
    most : int or None
        Nodes after which it is no matter for machine code.
    """

    __slots__ = ("_inlined", "most")

    decided = False

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.most = most
        self._inlined: dict[Any, tuple[Program, list[Number]]] = {}

    def inlined(self, program: Program, numbers: Sequence[Number]) -> list[Number]:
        """Results of a program, written down once for the same numbers.

        Raises
        ------
        Untraceable
            If there are more nodes then than there may be.
        """
        given = (numbers[k] for k in program.needed)
        key = id(program), *(x.edge if isinstance(x, Scalar) else float(x).hex() for x in given)
        if key not in self._inlined:
            self._inlined[key] = program, inline(program, numbers)
            if self.most is not None and len(self.op) > self.most:
                raise Untraceable
        return self._inlined[key][1]

    def forget(self) -> None:
        """Be done with writing: a graph may be kept for long, and what helped to write it not."""
        self._inlined = {}


class Untraceable(Exception):
    """There is no straight-line code for a controller: Python has to be asked."""


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

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all instants, shape (stop - first, size)."""
        return np.array([self.at(t) for t in times[first:stop].tolist()])


class SymbolicTime(Scalar):
    """The time while a controller is traced; it takes note of the signals that are asked for."""

    __slots__ = ("ports", "signals")

    graph: TraceGraph
    ports: list[Port]
    signals: list[Any]

    def sampled(self, name: str, function: Callable[[float], Any]) -> tuple[Array, ...]:
        """Symbols for what a function of time returns: one array or a tuple of them."""
        shapes = [np.shape(x) for x in function(0.0)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        numbers = self.input(Signal(f"{name}{len(self.signals)}", sum(sizes), function))
        parts = np.split(numbers, np.cumsum(sizes)[:-1])
        return tuple(x.reshape(shape) for x, shape in zip(parts, shapes, strict=True))

    def input(self, signal: Any) -> Array:
        """Symbols for the numbers of a signal, shape (size,)."""
        first = sum(port.size for port in self.ports)
        self.ports.append(Port(signal.name, (signal.size,)))
        self.signals.append(signal)
        return symbols(self.graph, first, signal.size)

    def looked(self, remembering: Any, q: FloatArray, v: FloatArray) -> Any:
        """Forces of a controller with a memory, which are no function of the state."""
        raise Untraceable

    def over(self, function: Callable[[FloatArray], FloatArray]) -> Any:
        """Symbols for what a function makes of the time since the last look."""
        raise Untraceable


def inlined(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program in what a controller writes, or of numbers alone."""
    graph = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    return (
        graph.inlined(program, numbers)
        if isinstance(graph, TraceGraph)
        else inline(program, numbers)
    )


def symbols(graph: Graph, first: int, count: int) -> Array:
    """Inputs of a graph, from one on."""
    array = np.empty(count, object)
    array[:] = inputs(graph, first, count)
    return array
