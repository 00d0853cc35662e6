"""A hash-consed expression graph in flat arrays.

A node is an operation; an *edge* is a node with a sign: ``edge = 2 * node + negative``. Signs
travel on edges, so that ``a - b``, ``b - a`` and ``-(a - b)`` are one node, and a negation costs
nothing until machine code needs it. Nodes are stored in the order of their making, which is an
order of evaluation: operands always come before.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from itertools import compress
from typing import Any

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops


class ByPrecision(float):
    """A constant that is another one in single precision, as a tolerance is.

    It is folded into no other constant, so that both values stay.
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

    op: Operation of each node: a constant of this module, such as ``ADD``.
    a, b: Operand edges. ``INPUT``: ``a`` is the index of the scalar input. ``CONST``: unused.
    value: Value of each ``CONST`` node: positive, zero or NaN.
    known: Node of each operation with its operands, and of each constant: there is one of each.
    decided: Whether ``==`` compares its symbols by identity; else it is refused, as of a
        controller.
    examples: Values of some scalar inputs, by index, with which programs may be tried, in turns.
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

    def __getstate__(self) -> tuple[Any, ...]:
        nodes = [array("q", x).tobytes() for x in (self.op, self.a, self.b)]
        return *nodes, self.value, {k: tuple(map(float, x)) for k, x in self.examples.items()}

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.op, self.a, self.b = (memoryview(x).cast("q").tolist() for x in state[:3])
        self.value = {k: x if x == x else math.nan for k, x in state[3].items()}  # one NaN
        self.examples, self.known = state[4], {}
        for node, key in enumerate(zip(self.op, self.a, self.b, strict=True)):
            self.known[_key(self.value[node]) if key[0] == ops.CONST else key] = node

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
        key = float(abs(value)) if value == value else math.nan  # one node, though nan != nan
        known = self.known.get(key)
        return (self._positive(key, key) if known is None else 2 * known) + (value < 0.0)

    def by_precision(self, value: ByPrecision) -> int:
        """Edge of a positive constant that depends on the precision."""
        return self._positive(_key(value), value)

    def _positive(self, key: object, value: float) -> int:
        """Edge of a constant, made once."""
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.op)
            self.op.append(ops.CONST)
            self.a.append(0)
            self.b.append(0)
            self.value[known] = value
        return 2 * known

    def operands(self, node: int) -> tuple[int, ...]:
        """Edges that a node is computed from; of a selection those compared, and both sides."""
        op, a, b = self.op[node], self.a[node], self.b[node]
        if op <= ops.INPUT:
            return ()
        if op == ops.SELECT:
            condition, sides = a >> 1, b >> 1
            return self.a[condition], self.b[condition], self.a[sides], self.b[sides]
        return (a, b) if op in ops.OF_TWO else (a,)


def _key(value: float) -> object:
    """By which a graph knows a positive constant."""
    return (float(value), value.single) if isinstance(value, ByPrecision) else value


@dataclass(frozen=True)
class Port:
    """An input or output array of a program.

    shape: Of one state.
    common: All states of a batch have the same numbers.
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

    inputs, outputs: Scalars are numbered through all inputs (outputs) in order, each array
        row-major.
    results: Edge of each output scalar.
    rates: For each input whose numbers are coordinates that do not add, as those of a quaternion:
        from that input to its rate for a unit of each speed, shape (size of the input, speeds).
    derived, optional: From the name of an input to the program of the derivatives by it, or
        ``None``: where these take fewer operations than the rules of differentiation find. It is
        lost by pickling.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    graph: Graph
    results: tuple[int, ...]
    rates: Mapping[str, Program] = field(default_factory=dict)
    derived: Callable[[str], Program | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {x.name: getattr(self, x.name) for x in fields(self)} | {"derived": None}

    def live(self) -> tuple[int, ...]:
        """Nodes that the results need, in order of evaluation."""
        return self._live

    @cached_property
    def _live(self) -> tuple[int, ...]:
        return self.live_for(self.results)

    def live_for(self, edges: Iterable[int]) -> tuple[int, ...]:
        """Nodes that some edges need, in order of evaluation."""
        op, a, b, two = self.graph.op, self.graph.a, self.graph.b, ops.OF_TWO
        needed = bytearray(len(op))
        for edge in edges:
            needed[edge >> 1] = 1
        for node in range(len(op) - 1, -1, -1):
            if needed[node] and (kind := op[node]) > ops.INPUT:
                needed[a[node] >> 1] = 1
                if kind in two:
                    needed[b[node] >> 1] = 1
        return tuple(compress(range(len(op)), needed))

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """Scalar inputs that the results need."""
        graph = self.graph
        return tuple(sorted(graph.a[node] for node in self.live() if graph.op[node] == ops.INPUT))

    def operations(self) -> dict[str, int]:
        """Number of operations: ``mul``, ``add``, ``div``, ``sqrt``, ``sincos`` (pairs).

        Those that have any also have ``select`` (with absolute values) and ``function``, what the
        C library computes.
        """
        graph = self.graph
        live = self.live()
        count = [0] * (ops.FLOOR + 1)
        angles = set()
        for node in live:
            op = graph.op[node]
            count[op] += 1
            if op in (ops.SIN, ops.COS):
                angles.add(graph.a[node])
        always = {
            "mul": count[ops.MUL],
            "add": count[ops.ADD],
            "div": count[ops.DIV],
            "sqrt": count[ops.SQRT],
            "sincos": len(angles),
        }
        more = {"select": count[ops.SELECT] + count[ops.ABS], "function": sum(count[ops.ARCTAN2 :])}
        return always | {kind: number for kind, number in more.items() if number}
