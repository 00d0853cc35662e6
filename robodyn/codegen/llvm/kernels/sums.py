"""Values as sums of products, as several columns of a matrix have them with the same factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Graph, Program

#: Beside operations of graphs: ``x y + z`` rounded once.
FMA = 8

#: What is no operation, or a part of another one.
_WITHIN = frozenset((ops.CONST, ops.INPUT, ops.LESS, ops.LESS_EQUAL, ops.SIDES))


class ConstantLane(NamedTuple):
    """A constant in a lane; it equals no edge."""

    value: float


#: What is in a lane: the value of an edge, a constant, or a number that is not used.
Lane = int | ConstantLane | None

ZERO = ConstantLane(0.0)


def as_lane(graph: Graph, edge: int) -> int | ConstantLane:
    """An edge, or its value if that is known."""
    value = graph.value.get(edge >> 1)
    if value is None or isinstance(value, ByPrecision):
        return edge
    return opposite(ConstantLane(value)) if edge & 1 else ConstantLane(value)


def opposite(lane: int | ConstantLane) -> int | ConstantLane:
    """The contents of a lane with the opposite sign."""
    return lane ^ 1 if isinstance(lane, int) else ConstantLane(-lane.value)


class Sum:
    """A value as a starting value and the products that are added to it, the last one first.

    fused: Sums that are one instruction with a product: edge of the product.
    lane: The value.
    needed: Whether anybody needs the value.
    rest: The part of the sum that has not been taken yet.
    factors: Of the product that is added last; a value alone is its product with 1.
    """

    __slots__ = ("_at", "_edges", "_graph", "_products", "_start", "factors", "needed", "rest")

    rest: Lane
    factors: tuple[int, ...]

    def __init__(self, graph: Graph, fused: Mapping[int, int], lane: Lane) -> None:
        self._graph = graph
        #: Factors of each product, and whether it is subtracted; edge of the sum up to it.
        self._products: list[tuple[int, int, int]] = []
        self._edges: list[int] = []
        self.needed = lane is not None
        while isinstance(lane, int):
            node, negative = lane >> 1, lane & 1
            product, rest = fused.get(node), None
            if product is not None:
                rest = graph.b[node] if product == graph.a[node] else graph.a[node]
            elif graph.op[node] == ops.MUL:
                product = 2 * node
            else:
                break
            x, y = graph.a[product >> 1], graph.b[product >> 1]
            self._products.append((x >> 1, y >> 1, (x ^ y ^ product ^ negative) & 1))
            self._edges.append(lane)
            lane = None if rest is None else as_lane(graph, rest ^ negative)
        self._start = lane
        self._go_to(0)

    def _go_to(self, at: int) -> None:
        """Let the products from one on be what is left."""
        self._at = at
        if at < len(self._edges):
            x, y, _ = self._products[at]
            self.rest = rest = self._edges[at]
            self.factors = x, y, rest >> 1
            return
        self.rest = start = self._start
        alone = isinstance(start, int) and self._graph.op[start >> 1] != ops.CONST
        self.factors = (start >> 1,) if alone and isinstance(start, int) else ()

    def other(self, factor: int) -> int | ConstantLane:
        """The other factor of the product that is added last.

        factor: One of `factors`.
        """
        rest = self.rest
        assert isinstance(rest, int)
        if factor == rest >> 1:
            return ConstantLane(-1.0 if rest & 1 else 1.0)
        x, y, negative = self._products[self._at]
        return as_lane(self._graph, 2 * (y if x == factor else x) + negative)

    def take(self, factor: int) -> None:
        """Remove the product that is added last, of which that is a factor."""
        rest = self.rest
        if isinstance(rest, int) and factor == rest >> 1:
            self._start = None
            self._go_to(len(self._products))
        else:
            self._go_to(self._at + 1)


def shared_factor(sums: Sequence[Sum]) -> int | None:
    """A factor of what most sums add last, if that are several."""
    counts, most, found = dict[int, int](), 1, None
    for each in sums:
        for factor in each.factors:
            counts[factor] = counts.get(factor, 0) + 1
    for factor, count in counts.items():
        if count > most:
            most, found = count, factor
    return found


def products_in_sums(program: Program, last: bool = False) -> dict[int, int]:
    """Sums that are one instruction with a product that nothing else needs: edge of the product.

    They are marked for LLVM one by one: where it chooses them itself, it takes others for a vector
    of states than for one state, and results differ in the last bits.

    last: Of two such products, take the one that was made last, so that sums of many products grow
        product by product, whatever they begin with.
    """
    graph, live = program.graph, program.live()
    of_nodes, a, b = graph.op, graph.a, graph.b
    uses = [0] * len(of_nodes)
    for edge in program.results:
        uses[edge >> 1] += 1
    for node in live:
        if (op := of_nodes[node]) > ops.INPUT:
            uses[a[node] >> 1] += 1
            if op in ops.OF_TWO:
                uses[b[node] >> 1] += 1
    found = {}
    for node in live:
        if of_nodes[node] == ops.ADD:
            pair = a[node], b[node]
            for edge in pair[::-1] if last else pair:
                if of_nodes[edge >> 1] == ops.MUL and uses[edge >> 1] == 1:
                    found[node] = edge
                    break
    return found


def operations(
    program: Program, fused: Mapping[int, int]
) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Operations of a program in order: of each node which one it is, and its operands as edges.

    ``SELECT`` is its comparison, ``LESS`` or ``LESS_EQUAL``, with the numbers compared and both
    sides.

    fused: Sums that are one operation with a product: edge of the product.
    """
    graph, found = program.graph, dict[int, tuple[int, tuple[int, ...]]]()
    of_nodes, left, right = graph.op, graph.a, graph.b
    within = {edge >> 1 for edge in fused.values()}
    for node in program.live():
        op = of_nodes[node]
        if op in _WITHIN or node in within:
            continue
        a, b, product = left[node], right[node], fused.get(node)
        if product is not None:
            x, y = left[product >> 1] ^ (product & 1), right[product >> 1]
            found[node] = FMA, (x, y, b if product == a else a)
        elif op == ops.SELECT:
            found[node] = of_nodes[a >> 1], graph.operands(node)
        else:
            found[node] = op, (a, b) if op in ops.OF_TWO else (a,)
    return found
