"""The instructions of a kernel for one state, with operations that are alike in packs."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.codegen.llvm.kernels.packs import Column, Pack, Packs
from robodyn.codegen.llvm.kernels.scalar_body import ScalarBody
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.kernels.vectors import Vectors, shuffle
from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Program

#: Of each lane, whether its number has the other sign.
Signs = tuple[bool, ...]


class _Vector(NamedTuple):
    """The contents of the lanes of a vector.

    name: SSA name; of constants a literal, in which they are positive.
    constants: The literal, so that its signs can be chosen.
    """

    name: str
    signs: Signs
    constants: tuple[float, ...] | None = None


class PackedBody(ScalarBody):
    """One state, with packs.

    Signs cost nothing where they can be left to what comes next: a vector may have the other sign
    in some lanes than the numbers that it stands for.
    """

    def __init__(
        self, w: Vectors, program: Program, found: Superwords, width: int, packs: Packs
    ) -> None:
        super().__init__(w, program, found, width)
        self.packs, self.lanes = packs, packs.lanes
        self.wide, self.positive = Vectors(w.code, w.dtype, packs.lanes), (False,) * packs.lanes
        self.vectors: dict[Pack, _Vector] = {}
        self.gathered: dict[Column, _Vector] = {}

    def result(self, edge: int) -> str:
        """What is stored of an edge: no negative zero, which packs have where others have none.

        The first tier of large programs has no packs, and is to give the same bits.
        """
        return self.w.binary("fadd", self.signed(edge), "0.0")

    def emit(self) -> None:
        """All operations, in the order of the packs."""
        self.gather_angles()
        for own in self.packs.order:
            if isinstance(own, Pack):
                self.vectors[own] = self._packed(own)
            else:
                self.compute(own)
            for node in own.used if isinstance(own, Pack) else (own,):
                self.after(node)
        for node in self.stores:
            if self.graph.op[node] <= ops.INPUT:
                self.after(node)

    def value(self, node: int) -> str:
        """SSA name or literal of a node, taken out of its lane where it is in a pack."""
        if node not in self.names and self.graph.op[node] != ops.CONST:
            place = self.packs.place.get(node)
            if place is None:
                self.compute(node)
            else:
                pack, lane = place
                vector = self.vectors[pack]
                x = self.wide.lane(vector.name, lane)
                self.names[node] = self.w.negative(x) if vector.signs[lane] else x
        return super().value(node)

    def _packed(self, pack: Pack) -> _Vector:
        """The instruction of a pack."""
        x, *others = [self._operand(column) for column in pack.operands]
        if pack.op == ops.SQRT:
            root = self.wide.intrinsic("sqrt", self._with_signs(x, self.positive))
            return _Vector(root, self.positive)
        y = others[0]
        if pack.op in (ops.MUL, ops.DIV):
            verb = "fmul" if pack.op == ops.MUL else "fdiv"
            return _Vector(self.wide.binary(verb, x.name, y.name), _different(x.signs, y.signs))
        if pack.op == ops.ADD:
            if x.constants:
                x, y = y, x
            verb = "fsub" if self._opposite(pack, x.signs, y) else "fadd"
            given = y.name if verb == "fsub" else self._with_signs(y, x.signs)
            return _Vector(self.wide.binary(verb, x.name, given), x.signs)
        return self._fused(pack, x, y, others[1])

    def _fused(self, pack: Pack, x: _Vector, y: _Vector, rest: _Vector) -> _Vector:
        """``x y + rest``, rounded once."""
        signs, first, last = _different(x.signs, y.signs), x.name, rest.name
        if self._opposite(pack, signs, rest):
            first = self.wide.negative(x.name)
            signs = rest.signs
        elif x.constants and not rest.constants:
            # the signs of constants are free
            first = self._with_signs(x, _different(y.signs, rest.signs))
            signs = rest.signs
        else:
            last = self._with_signs(rest, signs)
        return _Vector(self.wide.intrinsic("fma", first, y.name, last), signs)

    def _opposite(self, pack: Pack, signs: Signs, other: _Vector) -> bool:
        """Whether all used lanes have the opposite sign of those of a vector."""
        if other.constants:
            return False
        used = [k for k, node in enumerate(pack.nodes) if node is not None]
        return all(signs[k] != other.signs[k] for k in used)

    def _with_signs(self, x: _Vector, signs: Signs) -> str:
        """A vector with some signs."""
        w, other = self.wide, _different(x.signs, signs)
        if x.constants is not None:
            return w.literal(-c if turn else c for c, turn in zip(x.constants, other, strict=True))
        if not any(other):
            return x.name
        sign = -(1 << (8 * w.size - 1))
        mask = ", ".join(f"{w.integer} {sign if turn else 0}" for turn in other)
        return w.from_bits(w.name(f"xor {w.integers} {w.bits(x.name)}, <{mask}>"))

    def _operand(self, column: Column) -> _Vector:
        """The vector of an operand in each lane."""
        negative = tuple(edge is not None and bool(edge & 1) for edge in column)
        edges = [edge for edge in column if edge is not None]
        graph = self.graph
        if all(graph.op[edge >> 1] == ops.CONST for edge in edges):
            values = [self._constant((edges[0] if x is None else x) >> 1) for x in column]
            return _Vector(self.wide.literal(values), negative, tuple(values))
        pack = self.packs.vector(column)
        found = self.vectors[pack] if pack else self._gathered(column)
        return _Vector(found.name, _different(found.signs, negative))

    def _constant(self, node: int) -> float:
        value = self.graph.value[node]
        return value.single if isinstance(value, ByPrecision) and self.w.dtype == "float" else value

    def _gathered(self, column: Column) -> _Vector:
        """A vector of numbers that are elsewhere: one in all lanes, or each in its own."""
        nodes: Column = tuple(None if edge is None else edge >> 1 for edge in column)
        if nodes not in self.gathered:
            there = {node for node in nodes if node is not None}
            one = len(there) == 1
            self.gathered[nodes] = self._splat(there.pop()) if one else self._collected(nodes)
        return self.gathered[nodes]

    def _splat(self, node: int) -> _Vector:
        key = (node,) * self.lanes
        if key not in self.gathered:
            self.gathered[key] = _Vector(self.wide.splat(self.value(node)), self.positive)
        return self.gathered[key]

    def _collected(self, nodes: Column) -> _Vector:
        """A vector of lanes of other packs and of numbers that are in none."""
        lanes, x, signs = self.lanes, "poison", [*self.positive]
        sources: dict[Pack, dict[int, int]] = {}
        for lane, node in enumerate(nodes):
            if node is not None and node in self.packs.place and node not in self.names:
                pack, own = self.packs.place[node]
                sources.setdefault(pack, {})[lane] = own
        for pack, moved in sources.items():
            vector = self.vectors[pack]
            picked = [moved.get(k, lanes + k) for k in range(lanes)]
            x = self.code.name(shuffle(self.wide.type, vector.name, x, picked))
            for lane, own in moved.items():
                signs[lane] = vector.signs[own]
        there = {lane for moved in sources.values() for lane in moved}
        for lane, node in enumerate(nodes):
            if node is not None and lane not in there:
                x = self.wide.with_lane(x, lane, self.value(node))
        return _Vector(x, tuple(signs))


def _different(one: Signs, other: Signs) -> Signs:
    return tuple(a != b for a, b in zip(one, other, strict=True))
