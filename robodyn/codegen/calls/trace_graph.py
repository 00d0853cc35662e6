"""The graph of a traced function of the user, such as a controller, with programs of its robot.

Controllers with other gains insert the same programs into graphs that differ in constants alone.
The nodes that a program adds are cached, and added to the next graph if they do not depend on
these constants.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from robodyn.array_types import Array
from robodyn.codegen.llvm.target.once import making
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import ByPrecision, Graph, Program
from robodyn.symbolic.scalar import Number, Scalar, inputs
from robodyn.symbolic.symbol_arrays import symbol_array

#: Largest number of cached parts of graphs, and of all their nodes.
KEPT, NODES = 32, 200_000


class Untraceable(Exception):
    """There is no straight-line code for a controller, so that Python has to call it."""


class TraceGraph(Graph):
    """A graph whose symbols replace numbers in a function of the user, such as a controller.

    most: Largest number of nodes that inserted programs may lead to.
    """

    __slots__ = ("_asked", "_inlined", "most")

    decided = False

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.most = most
        self._inlined: dict[Any, tuple[Program, list[Number]]] = {}
        #: Keys of constants that were used while a program is inserted; ``None`` at other times.
        self._asked: set[Any] = set()

    def constant(self, value: float) -> int:
        """Edge of a constant."""
        self._asked.add(float(abs(value)))
        return super().constant(value)

    def by_precision(self, value: ByPrecision) -> int:
        """Edge of a positive constant that depends on the precision."""
        self._asked.add((float(value), value.single))
        return super().by_precision(value)

    def inlined(self, program: Program, numbers: Sequence[Number]) -> list[Number]:
        """Results of a program, which is inserted once for the same numbers.

        Raises Untraceable: If the graph has too many nodes afterwards.
        """
        given = [numbers[k] for k in program.needed]
        key = id(program), *(x.edge if isinstance(x, Scalar) else float(x).hex() for x in given)
        if key not in self._inlined:
            self._inlined[key] = program, self._written(key, program, numbers)
            if self.most is not None and len(self.op) > self.most:
                raise Untraceable
        return self._inlined[key][1]

    def _written(self, key: Hashable, program: Program, numbers: Sequence[Number]) -> list[Number]:
        """Results of a program that is not in the graph yet."""
        key = key, len(self.op)
        with making():
            part = _parts.pop(key, None)
            if part is not None:
                _parts[key] = part
        if part is not None and part.fits(self):
            return part.added_to(self, numbers)
        count, watched = len(self.op), _Watched(self.value)
        self._asked, self.value = set(), watched
        results = inline(program, numbers)
        self.value = dict(watched)
        if min(watched.read, default=count) >= count:
            _keep(key, _Part.of(self, program, count, numbers, results))
        return results


def inlined(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program, in the graph that its symbols belong to, or of numbers alone."""
    graph = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    if isinstance(graph, TraceGraph):
        return graph.inlined(program, numbers)
    return inline(program, numbers)


def symbols(graph: Graph, first: int, count: int) -> Array:
    """Symbols of ``count`` inputs of a graph, from ``first`` on."""
    return symbol_array(inputs(graph, first, count))


class _Watched(dict[int, float]):
    """Values of constants, which records the constants that were read."""

    def __init__(self, values: dict[int, float]) -> None:
        super().__init__(values)
        self.read: set[int] = set()

    def __getitem__(self, node: int) -> float:
        self.read.add(node)
        return super().__getitem__(node)


@dataclass(frozen=True, eq=False)
class _Part:
    """The nodes that a program adds to a graph.

    before: Operations and operands of the nodes before, constants without their values.
    added: Those of the new nodes.
    values: Of new constants.
    known: New nodes by what they are.
    asked: Nodes before that constants of the program are, by their keys; ``None`` for new ones.
    results: Of each result, which of the given numbers it is, or its edge, or its value.
    """

    program: Program
    before: tuple[list[int], ...]
    added: tuple[list[int], ...]
    values: dict[int, float]
    known: dict[Any, int]
    asked: dict[Any, int | None]
    results: list[tuple[int | None, int | float]]

    @classmethod
    def of(
        cls, graph: TraceGraph, program: Program, count: int, numbers: Sequence[Number],
        results: Sequence[Number],
    ) -> _Part:  # fmt: skip
        """The part of a graph after its first ``count`` nodes."""
        nodes = graph.op, graph.a, graph.b
        known, given = list(graph.known.items()), {id(x): k for k, x in enumerate(numbers)}
        before = dict(known[:count])
        return cls(
            program,
            tuple(x[:count] for x in nodes),
            tuple(x[count:] for x in nodes),
            {node: x for node, x in graph.value.items() if node >= count},
            dict(known[count:]),
            {key: before.get(key) for key in graph._asked},
            [(given.get(id(x)), x.edge if isinstance(x, Scalar) else x) for x in results],
        )

    def fits(self, graph: TraceGraph) -> bool:
        """Whether a graph has the same earlier nodes, apart from constants that are not used."""
        known = graph.known
        same = (graph.op, graph.a, graph.b) == self.before
        return same and all(known.get(key) == node for key, node in self.asked.items())

    def added_to(self, graph: TraceGraph, numbers: Sequence[Number]) -> list[Number]:
        """The results of the program in a graph that fits."""
        for nodes, new in zip((graph.op, graph.a, graph.b), self.added, strict=True):
            nodes += new
        graph.value.update(self.values)
        graph.known.update(self.known)
        return [
            numbers[k] if k is not None else Scalar(graph, x) if isinstance(x, int) else x
            for k, x in self.results
        ]


_parts: dict[Hashable, _Part] = {}


def _keep(key: Hashable, part: _Part) -> None:
    """Cache a part, and remove those that were used longest ago."""
    if any(x != x for x in part.asked):  # NaN as a key would never be found again
        return
    with making():
        _parts[key] = part
        count = sum(len(x.known) for x in _parts.values())
        while len(_parts) > KEPT or (count > NODES and len(_parts) > 1):
            count -= len(_parts.pop(next(iter(_parts))).known)
