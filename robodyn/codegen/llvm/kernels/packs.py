"""Operations of one state that are alike, several in one vector.

Legs, arms and rods repeat themselves: what is computed for one of them is computed for the others
from other numbers. Two operations are alike if they do the same with operands that are alike,
whatever constants, inputs of the same array and signs these come from. Some such operations are a
*pack* [Larsen and Amarasinghe 2000], one a lane of a vector. Packs are found from the results to
the inputs: where the operands of a pack are alike, they are packs too, lane by lane. Each lane is
rounded as a scalar is, so one state and many give the same numbers to the last bit.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from robodyn.codegen.llvm.kernels.sums import FMA, operations
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program, scalar_places

#: Lanes of a pack at most: few mechanisms have more limbs that are alike.
LANES = 4

#: Packs are worthwhile where they leave less than this part of the operations, what brings numbers
#: into lanes and out of them included.
WORTH = 0.95

#: Live nodes of a program with packs, at most: it is one function, the time to compile which grows
#: faster than it does.
MOST = 60_000

#: Operations of packs.
PACKED = (ops.ADD, ops.MUL, ops.DIV, ops.SQRT, FMA)

#: An edge in each lane, or nothing.
Column = tuple[int | None, ...]


@dataclass(eq=False, slots=True)
class Pack:
    """Operations that are alike.

    nodes: The operation of each lane, if any.
    operands: What each operand is in each lane.
    """

    op: int
    nodes: tuple[int | None, ...]
    operands: list[Column] = field(default_factory=list)

    @property
    def used(self) -> Iterator[int]:
        """The operations."""
        return (node for node in self.nodes if node is not None)


class Packs:
    """The operations of a program, some of them in packs.

    fused: Sums that are one instruction with a product: edge of the product.
    lanes: Numbers in a vector.
    place: Pack and lane of each operation that is in one.
    order: All operations, operands first.
    """

    def __init__(self, program: Program, fused: Mapping[int, int], lanes: int) -> None:
        self.lanes, self._graph, self._results = lanes, program.graph, program.results
        self._operations = operations(program, fused)
        self._alike: dict[int, int] = {}
        self.place: dict[int, tuple[Pack, int]] = {}
        classes = self._classes(program)
        if sum(-(-len(alike) // lanes) for alike in classes) < WORTH * self.scalars:
            self._find(classes)
        packs = dict.fromkeys(pack for pack, _ in self.place.values())
        for pack in packs:
            pack.operands = self._columns(pack.nodes)
        self.order = self._ordered()

    def _classes(self, program: Program) -> list[list[int]]:
        """Operations that are alike, those of operands first."""
        graph, inputs = self._graph, scalar_places(program.inputs)
        known: dict[tuple[int, ...], int] = {}
        classes: dict[int, list[int]] = {}
        for node in program.live():
            op, edges = self._operations.get(node, (graph.op[node], ()))
            key: tuple[int, ...] = (op, inputs[graph.a[node]][0]) if op == ops.INPUT else (op,)
            if edges:
                edges = self._sorted(op, edges)
                self._operations[node] = op, edges
                key = (op, *(self._alike[edge >> 1] for edge in edges))
            self._alike[node] = kind = known.setdefault(key, len(known))
            if edges and op in PACKED:
                classes.setdefault(kind, []).append(node)
        return [*classes.values()]

    def _sorted(self, op: int, edges: tuple[int, ...]) -> tuple[int, ...]:
        """Operands in the order of all operations like this one."""
        alike = self._alike
        if op in (ops.ADD, ops.MUL, FMA) and alike[edges[0] >> 1] > alike[edges[1] >> 1]:
            return (edges[1], edges[0], *edges[2:])
        return edges

    def _find(self, classes: list[list[int]]) -> None:
        """Fill packs, those with most lanes first."""
        for count in range(self.lanes, 1, -1):
            for alike in (x for x in reversed(classes) if len(x) >= count):
                rest = [node for node in alike if node not in self.place]
                while len(rest) >= count:
                    self._pack(rest[:count])
                    rest = [node for node in rest[count:] if node not in self.place]

    def _pack(self, nodes: Sequence[int]) -> None:
        """Make a pack, and packs of its operands where these are alike and in none yet."""
        waiting: list[tuple[int | None, ...]] = [(*nodes, *[None] * (self.lanes - len(nodes)))]
        while waiting:
            lanes = waiting.pop()
            pack = Pack(self._operations[next(x for x in lanes if x is not None)][0], lanes)
            used = [*pack.used]
            if any(node in self.place for node in used):
                continue
            self.place.update((x, (pack, k)) for k, x in enumerate(lanes) if x is not None)
            for column in self._columns(lanes):
                wanted = [edge >> 1 for edge in column if edge is not None]
                if len({self._alike[x] for x in wanted}) == 1 and self._may_be_packed(wanted):
                    waiting.append(tuple(None if edge is None else edge >> 1 for edge in column))

    def _may_be_packed(self, nodes: Sequence[int]) -> bool:
        op = self._operations.get(nodes[0], (ops.INPUT,))[0]
        different = len({*nodes}) == len(nodes)
        return op in PACKED and different and not any(x in self.place for x in nodes)

    def _columns(self, lanes: tuple[int | None, ...]) -> list[Column]:
        """The operands in each lane."""
        model = self._operations[next(x for x in lanes if x is not None)][1]
        none: Column = (None,) * len(model)
        rows = (none if x is None else self._like(x, model) for x in lanes)
        return [*zip(*rows, strict=True)]

    def _like(self, node: int, model: tuple[int, ...]) -> Column:
        """Operands; of two that are alike, each where another lane has the same or its pack."""
        op, edges = self._operations[node]
        if op in (ops.ADD, ops.MUL, FMA):
            x, y, *rest = edges
            if self._alike[x >> 1] == self._alike[y >> 1]:
                straight = self._agree(x, model[0]) + self._agree(y, model[1])
                if self._agree(y, model[0]) + self._agree(x, model[1]) > straight:
                    return (y, x, *rest)
        return edges

    def _agree(self, one: int, other: int) -> bool:
        """Whether two operands are the same, or in the same pack."""
        if one >> 1 == other >> 1:
            return True
        pack, _ = self.place.get(one >> 1, (None, 0))
        return pack is not None and pack is self.place.get(other >> 1, (None, 0))[0]

    def vector(self, column: Column) -> Pack | None:
        """The pack that has the operands of a column in their lanes, if there is one."""
        edges = [(k, edge) for k, edge in enumerate(column) if edge is not None]
        pack = self.place.get(edges[0][1] >> 1, (None, 0))[0]
        return pack if all(self.place.get(x >> 1) == (pack, k) for k, x in edges) else None

    def _ordered(self) -> list[int | Pack]:
        """Operations in order, each pack as soon as the last of its lanes would be computed."""
        unit = {x: self.place[x][0] if x in self.place else x for x in self._operations}
        last: dict[int | Pack, int] = {}
        needs: dict[int | Pack, set[int | Pack]] = {}
        users: dict[int | Pack, list[int | Pack]] = {}
        for node, own in unit.items():
            last[own] = max(node, last.get(own, node))
            edges = self._operations[node][1]
            needs.setdefault(own, set()).update(unit[x >> 1] for x in edges if x >> 1 in unit)
        for own, others in needs.items():
            for other in others:
                users.setdefault(other, []).append(own)
        left = {own: len(others) for own, others in needs.items()}
        # `last` differs from one to the other, so that nothing else is compared
        ready = [(last[own], own) for own, count in left.items() if not count]
        heapq.heapify(ready)
        order = list[int | Pack]()
        while ready:
            _, own = heapq.heappop(ready)
            order.append(own)
            for user in users.get(own, ()):
                left[user] -= 1
                if not left[user]:
                    heapq.heappush(ready, (last[user], user))
        return order

    def count(self) -> int:
        """Number of operations with packs, with those that move numbers into and out of lanes."""
        gathered: set[Column] = set()
        taken = {edge >> 1 for edge in self._results}
        for own in self.order:
            if isinstance(own, int):
                taken.update(edge >> 1 for edge in self._operations[own][1])
            else:
                gathered.update(x for x in own.operands if self.vector(x) is None)
        into = 0
        for column in gathered:
            nodes = {edge >> 1 for edge in column if edge is not None}
            if any(self._graph.op[x] != ops.CONST for x in nodes):
                sources = {self.place[x][0] if x in self.place else x for x in nodes}
                into += max(1, len(sources) - 1)
        return len(self.order) + into + len(taken & self.place.keys())

    @property
    def scalars(self) -> int:
        """Number of operations without packs."""
        return len(self._operations)


def may_have_packs(program: Program, found: Superwords, target: Target, dtype: str) -> bool:
    """Whether packs are looked for in the code for one state: not with matrices or superwords.

    Rows of a matrix are stored one by one, and its columns may be superwords.
    """
    if found.order or any(len(port.shape) > 1 for port in program.outputs):
        return False
    return target.lanes(dtype) > 1 and target.fma and len(program.live()) <= MOST


def packs_for(program: Program, found: Superwords, target: Target, dtype: str) -> Packs | None:
    """Packs of the code for one state; none if that is no less work."""
    if not may_have_packs(program, found, target, dtype):
        return None
    packs = Packs(program, found.fused, min(LANES, target.lanes(dtype)))
    return packs if packs.count() < WORTH * packs.scalars else None
