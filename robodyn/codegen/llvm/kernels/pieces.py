"""Large programs in pieces: functions of bounded size, which pass values in memory.

The time that LLVM takes for a function grows faster than the function. A program of many thousand
operations is therefore cut into pieces. Mechanisms repeat themselves, from body to body and from
loop to loop; so pieces often do the same with other numbers. These share one function, which is
told by two lists where its values are and what its constants are. So that repeated parts give equal
pieces, a cut is made where a hash of the operations before it is least.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn.codegen.llvm.kernels.sums import FMA, operations
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program, scalar_places

#: Least size of a piece, as a part of the largest.
LEAST = 0.2

#: Number of operations in a hash.
AROUND = 24

#: Operations farther away than this count as those of another piece.
FAR = 64


@cache
def _small_hashes() -> NDArray[np.uint64]:
    """Hashes of small numbers; made when needed, since numpy.random takes a while to import."""
    return np.random.default_rng(1).integers(1, 2**63, 256, dtype=np.uint64)


def cuts_of(
    program: Program, nodes: list[int], operands: list[tuple[int, ...]], most: int
) -> list[int]:
    """The beginnings of pieces, and the end of the last one.

    nodes: Those that are operations, in order.
    operands: Their operands, which are edges.
    most: Operations of a piece, at most.
    """
    cuts, count, least = [0], len(nodes), int(LEAST * most)
    hashes = _hashes(program, nodes, operands)
    while count - cuts[-1] > most:
        window = hashes[cuts[-1] + least : min(cuts[-1] + most, count - least)]
        cuts.append(cuts[-1] + least + int(window.argmin()))
    return [*cuts, count] if count else cuts


def _hashes(
    program: Program, nodes: list[int], operands: list[tuple[int, ...]]
) -> NDArray[np.uint64]:
    """Of each operation a hash of it and those before it, by what they do and how far back."""
    graph, count = program.graph, len(nodes)
    at = np.full(len(graph.op), -1, np.int64)
    at[nodes] = np.arange(count)
    kinds = np.array(graph.op)[nodes] + 8 * np.array([len(x) for x in operands])
    small = _small_hashes()
    each = small[kinds]
    op = np.array(graph.op)
    for k in range(3):
        edges = np.array([x[k] if len(x) > k else -1 for x in operands])
        far = np.arange(count) - at[edges >> 1]
        # beyond a few operations, and of what is no operation, the distance says nothing
        near = np.where((at[edges >> 1] >= 0) & (far < FAR), far, FAR + op[edges >> 1])
        each = each + small[np.where(edges < 0, 255, FAR + near)]
    total = np.zeros(count, np.uint64)
    for k in range(AROUND):
        total = total * np.uint64(0x9E3779B97F4A7C15)
        total[k:] += each[: count - k] if k else each
    total ^= total >> np.uint64(29)
    return np.asarray(total * np.uint64(0xBF58476D1CE4E5B9))


#: Beside operations of graphs and `FMA`: to store a value.
STORE = 9

#: What an operand is: the value of an operation before it in the piece, what one of the piece's
#: words leads to, one of its constants. An operand is ``8 index + kind``, and 1 more if negative.
LOCAL, WORD, CONSTANT = 0, 2, 4

#: The place of words that lead to memory between pieces; others lead to an input or output.
WORK = -1

#: An operation and its operands.
Step = tuple[int, ...]


class Shape(NamedTuple):
    """The common part of pieces that differ only in their numbers.

    steps: Operations with their operands; of `STORE` the value and the word.
    places: Of each word `WORK`, or the number of an array: inputs first, then outputs.
    """

    steps: tuple[Step, ...]
    places: tuple[int, ...]


class Piece(NamedTuple):
    """A part of a program.

    words: Index of each word at its place.
    """

    shape: Shape
    words: list[int]
    constants: list[float]


class Angle(NamedTuple):
    """An angle that is known from the start: ``factor * x + offset``, one of which is idle.

    port, number: Which input x is, and which number of it.
    """

    port: int
    number: int
    factor: float
    offset: float


class Pieces:
    """A program in pieces.

    products: Sums that are one operation with a product: edge of the product.
    lanes: Numbers in a vector; that many angles may be evaluated together.
    most: Operations of a piece, at most.
    elsewhere: Results, by index, that others store.
    angles: Their sines are first in memory, then comes a gap, and then their cosines.
    cosines: Where the cosines are.
    size: Numbers that there must be memory for.
    cleared: Outputs that are filled with zeros first.
    """

    def __init__(
        self,
        program: Program,
        products: Mapping[int, int],
        lanes: int,
        most: int,
        elsewhere: Collection[int] = (),
    ) -> None:
        self._program, self._most = program, most
        self._inputs = scalar_places(program.inputs)
        self.angles: list[Angle] = []
        self._slots: dict[int, int] = {}
        self._find_angles(lanes)
        self.order: list[Piece] = []
        self._shapes: dict[Shape, Shape] = {}
        found = operations(program, products)
        nodes = [node for node in found if node not in self._slots]
        self._kinds, operands = {x: found[x][0] for x in nodes}, [found[x][1] for x in nodes]
        self._results, self.cleared = self._wanted(elsewhere)
        cuts = cuts_of(program, nodes, operands, most)
        self._last = _last_uses(len(program.graph.op), cuts, operands)
        self._free: list[int] = []
        for k, (first, end) in enumerate(pairwise(cuts)):
            self._add_piece(k, nodes[first:end], operands[first:end])
        self._add_rest()

    def _find_angles(self, lanes: int) -> None:
        graph = self._program.graph
        found: dict[int, int] = {}
        users = [n for n in self._program.live() if graph.op[n] in (ops.SIN, ops.COS)]
        for node in users:
            angle = graph.a[node] >> 1
            known = None if angle in found else self._angle(angle)
            if known is not None:
                found[angle] = len(self.angles)
                self.angles.append(known)
        self.cosines = -(-len(self.angles) // lanes) * lanes
        self.size = 2 * self.cosines
        for node in users:
            k = found.get(graph.a[node] >> 1)
            if k is not None:
                self._slots[node] = k if graph.op[node] == ops.SIN else self.cosines + k

    def _angle(self, node: int) -> Angle | None:
        graph = self._program.graph
        if graph.op[node] == ops.INPUT:
            return Angle(*self._inputs[graph.a[node]], 1.0, -0.0)
        if graph.op[node] not in (ops.ADD, ops.MUL):
            return None
        pair = graph.a[node], graph.b[node]
        for one, other in (pair, pair[::-1]):
            number = graph.value.get(other >> 1)
            if graph.op[one >> 1] == ops.INPUT and type(number) is float:
                place, sign = self._inputs[graph.a[one >> 1]], 1.0 - 2.0 * (one & 1)
                value = number * (1.0 - 2.0 * (other & 1))
                if graph.op[node] == ops.MUL:
                    return Angle(*place, value * sign, -0.0)
                return Angle(*place, sign, value)
        return None

    def _wanted(
        self, elsewhere: Collection[int]
    ) -> tuple[dict[int, list[tuple[int, int, int]]], list[int]]:
        """Array, index and sign of the results of each node; outputs that are zero but for few."""
        program, first = self._program, 0
        wanted: dict[int, list[tuple[int, int, int]]] = {}
        zero = next((2 * node for node, x in program.graph.value.items() if not x), -1)
        cleared = []
        for p, port in enumerate(program.outputs):
            edges = program.results[first : first + port.size]
            given = [k for k in range(port.size) if first + k not in elsewhere]
            first += port.size
            sparse = 2 * sum(edges[k] == zero for k in given) > port.size
            if sparse:
                cleared.append(len(program.inputs) + p)
            for k in given:
                edge = edges[k]
                if edge != zero or not sparse:
                    place = len(program.inputs) + p, k, edge & 1
                    wanted.setdefault(edge >> 1, []).append(place)
        return wanted, cleared

    def _add_piece(self, number: int, nodes: list[int], operands: list[Step]) -> None:
        writer, free = _PieceWriter(self._program, self._inputs, self._slots), list[int]()
        for node, edges in zip(nodes, operands, strict=True):
            writer.operation(self._kinds[node], node, edges)
            for port, index, sign in self._results.pop(node, ()):
                writer.store(2 * node + sign, port, index)
            if self._last[node] > number:
                if not self._free:
                    self._free.append(self.size)
                    self.size += 1
                self._slots[node] = slot = self._free.pop()
                writer.store(2 * node, WORK, slot)
        # values that this piece reads last are overwritten only by later pieces
        for edge in {x >> 1 for edges in operands for x in edges}:
            if self._last[edge] == number and self._slots.get(edge, -1) >= 2 * self.cosines:
                free.append(self._slots[edge])
        self._free += sorted(free, reverse=True)
        self._append(writer)

    def _append(self, writer: _PieceWriter) -> None:
        made = writer.piece()
        self.order.append(made._replace(shape=self._shapes.setdefault(made.shape, made.shape)))

    def _add_rest(self) -> None:
        """Results that are inputs, constants, sines or cosines."""
        left = [(2 * n + sign, port, k) for n, x in self._results.items() for port, k, sign in x]
        for first in range(0, len(left), self._most):
            writer = _PieceWriter(self._program, self._inputs, self._slots)
            for edge, port, index in left[first : first + self._most]:
                writer.store(edge, port, index)
            self._append(writer)


class _PieceWriter:
    """Turns nodes into steps, with operands by the order in which they are met."""

    def __init__(
        self, program: Program, inputs: list[tuple[int, int]], slots: Mapping[int, int]
    ) -> None:
        self._graph, self._inputs, self._slots = program.graph, inputs, slots
        self._known: dict[int, int] = {}
        self._steps: list[Step] = []
        self._places: list[int] = []
        self._words: list[int] = []
        self._constants: list[float] = []
        self._values = 0

    def operation(self, op: int, node: int, edges: Step) -> None:
        """An operation; the order of factors and of summands is that of all pieces like this."""
        refs = [self._operand(edge) for edge in edges]
        if op in (ops.MUL, FMA) and refs[0] >> 1 > refs[1] >> 1:
            sign = (refs[0] ^ refs[1]) & 1
            refs[:2] = refs[1] & -2 | sign, refs[0] & -2
        elif op == ops.ADD and not refs[1] & 1 and refs[0] > refs[1]:
            refs.reverse()
        self._steps.append((op, *refs))
        self._known[node] = 8 * self._values + LOCAL
        self._values += 1

    def store(self, edge: int, place: int, index: int) -> None:
        """Store a value, as long as it is known."""
        self._steps.append((STORE, self._operand(edge), self._word(place, index)))

    def piece(self) -> Piece:
        """The piece that was written."""
        shape = Shape(tuple(self._steps), tuple(self._places))
        return Piece(shape, self._words, self._constants)

    def _word(self, place: int, index: int) -> int:
        self._places.append(place)
        self._words.append(index)
        return len(self._words) - 1

    def _operand(self, edge: int) -> int:
        node = edge >> 1
        known = self._known.get(node)
        if known is None:
            op = self._graph.op[node]
            if op == ops.CONST:
                known = 8 * len(self._constants) + CONSTANT
                self._constants.append(self._graph.value[node])
            elif op == ops.INPUT:
                known = 8 * self._word(*self._inputs[self._graph.a[node]]) + WORD
            else:
                known = 8 * self._word(WORK, self._slots[node]) + WORD
            self._known[node] = known
        return known | (edge & 1)


def _last_uses(count: int, cuts: list[int], operands: list[Step]) -> list[int]:
    """The last piece that needs each node; -1 if none does."""
    last = [-1] * count
    for k, (first, end) in enumerate(pairwise(cuts)):
        for edges in operands[first:end]:
            for edge in edges:
                last[edge >> 1] = k
    return last
