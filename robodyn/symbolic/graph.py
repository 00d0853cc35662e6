"""A hash-consed expression graph in flat arrays.

A node is an operation; an *edge* is a node with a sign: ``edge = 2 * node + negative``. Signs
travel on edges, so that ``a - b``, ``b - a`` and ``-(a - b)`` are one node, and a negation costs
nothing until machine code needs it. Nodes are stored in the order of their making, which is an
order of evaluation: operands always come before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any

__all__ = [
    "ADD",
    "CONST",
    "COS",
    "DIV",
    "INPUT",
    "MUL",
    "SIN",
    "SQRT",
    "ByPrecision",
    "Graph",
    "Port",
    "Program",
    "scalar_places",
]

CONST, INPUT, ADD, MUL, DIV, SQRT, SIN, COS = range(8)


class ByPrecision(float):
    """A constant that is another one in single precision, as a tolerance is.

    It is folded into no other constant, so that both values stay.

    Attributes
    ----------
    single : float
    """

    single: float

    def __new__(cls, double: float, single: float) -> ByPrecision:
        """The number in double precision, and with it the one in single precision."""
        made = super().__new__(cls, double)
        made.single = single
        return made

    def __reduce__(self) -> tuple[type[ByPrecision], tuple[float, float]]:
        return ByPrecision, (float(self), self.single)


class Graph:
    """Nodes of one program.

    Attributes
    ----------
    op : list of int
        Operation of each node: ``CONST INPUT ADD MUL DIV SQRT SIN COS``.
    a, b : list of int
        Operand edges. ``INPUT``: ``a`` is the index of the scalar input. ``CONST``: unused.
    value : dict of int to float
        Value of each ``CONST`` node, positive or zero.
    known : dict of hashable to int
        Node of each operation with its operands, and of each constant: there is one of each.
    decided : bool
        Whether ``==`` compares its symbols by identity; else it is refused, as of a controller.
    examples : dict of int to sequence of float
        Values of some scalar inputs, by index, with which programs may be tried, in turns.
    """

    __slots__ = ("a", "b", "examples", "known", "op", "value")

    decided = True

    def __init__(self) -> None:
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.value: dict[int, float] = {}
        self.examples: dict[int, Sequence[float]] = {}
        self.known: dict[object, int] = {}

    def node(self, op: int, a: int = 0, b: int = 0) -> int:
        """Node of an operation, made once."""
        key = (op, a, b)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.op)
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)
        return known

    def constant(self, value: float) -> int:
        """Edge of a constant, whatever type of real number it has."""
        key = float(abs(value))
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.op)
            self.op.append(CONST)
            self.a.append(0)
            self.b.append(0)
            self.value[known] = key
        return 2 * known + (value < 0.0)

    def by_precision(self, value: ByPrecision) -> int:
        """Edge of a positive constant that depends on the precision."""
        key = (float(value), value.single)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.op)
            self.op.append(CONST)
            self.a.append(0)
            self.b.append(0)
            self.value[known] = value
        return 2 * known


@dataclass(frozen=True)
class Port:
    """An input or output array of a program.

    Attributes
    ----------
    name : str
    shape : tuple of int
        Of one state.
    unit : str
    common : bool
        All states of a batch have the same numbers.
    """

    name: str
    shape: tuple[int, ...]
    unit: str = ""
    common: bool = False

    @property
    def size(self) -> int:
        """Number of scalars of one state."""
        return math.prod(self.shape)


def scalar_places(ports: Iterable[Port]) -> list[tuple[int, int]]:
    """(port, index in the port) of each scalar."""
    return [(p, k) for p, port in enumerate(ports) for k in range(port.size)]


@dataclass(frozen=True)
class Program:
    """A straight-line program: what every code generator starts from.

    Attributes
    ----------
    name : str
    inputs, outputs : tuple of Port
        Scalars are numbered through all inputs (outputs) in order, each array row-major.
    graph : Graph
    results : tuple of int
        Edge of each output scalar.
    rates : mapping of str to Program
        For each input whose numbers are coordinates that do not add, as those of a quaternion: from
        that input to its rate for a unit of each speed, shape (size of the input, speeds).
    derived : callable, optional
        From the name of an input to the program of the derivatives by it, or ``None``: where these
        take fewer operations than the rules of differentiation find. It is lost by pickling.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    graph: Graph
    results: tuple[int, ...]
    rates: Mapping[str, Program] = field(default_factory=dict)
    derived: Callable[[str], Program | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "derived": None}

    def live(self) -> tuple[int, ...]:
        """Nodes that the results need, in order of evaluation."""
        return self._live

    @cached_property
    def _live(self) -> tuple[int, ...]:
        return self.live_for(self.results)

    def live_for(self, edges: Iterable[int]) -> tuple[int, ...]:
        """Nodes that some edges need, in order of evaluation."""
        op, a, b = self.graph.op, self.graph.a, self.graph.b
        needed = bytearray(len(op))
        for edge in edges:
            needed[edge >> 1] = 1
        for node in range(len(op) - 1, -1, -1):
            if needed[node] and op[node] > INPUT:
                needed[a[node] >> 1] = 1
                if op[node] <= DIV:  # of two operands
                    needed[b[node] >> 1] = 1
        return tuple(compress(range(len(op)), needed))

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Scalar inputs that the results need."""
        graph = self.graph
        return tuple(sorted(graph.a[node] for node in self.live() if graph.op[node] == INPUT))

    def operations(self) -> dict[str, int]:
        """Number of operations: ``mul``, ``add``, ``div``, ``sqrt``, ``sincos`` (pairs)."""
        graph = self.graph
        live = self.live()
        count = [0] * 8
        angles = set()
        for node in live:
            op = graph.op[node]
            count[op] += 1
            if op in (SIN, COS):
                angles.add(graph.a[node])
        return {
            "mul": count[MUL],
            "add": count[ADD],
            "div": count[DIV],
            "sqrt": count[SQRT],
            "sincos": len(angles),
        }
