"""The instructions of a kernel for one state, with operations that are alike in packs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.packs import Column, Pack, Packs
from robodyn.codegen.llvm.kernels.scalar_body import ScalarBody
from robodyn.codegen.llvm.kernels.sincos import number, vector_type
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import ADD, CONST, DIV, INPUT, MUL, SQRT, ByPrecision, Program

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
        self,
        code: Code,
        program: Program,
        found: Superwords,
        target: Target,
        dtype: str,
        packs: Packs,
    ) -> None:
        super().__init__(code, program, found, target, dtype)
        self.packs, self.width = packs, packs.lanes
        self.vector = vector_type(dtype, packs.lanes)
        self.vectors: dict[Pack, _Vector] = {}
        self.gathered: dict[Column, _Vector] = {}

    def result(self, edge: int) -> str:
        """What is stored of an edge: no negative zero, which packs have where others have none.

        The first tier of large programs has no packs, and is to give the same bits.
        """
        return self.code.name(f"fadd {self.type} {self.signed(edge)}, 0.0")

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
            self.cut()
        for node in self.stores:
            if self.program.graph.op[node] <= INPUT:
                self.after(node)

    def value(self, node: int) -> str:
        """SSA name or literal of a node, taken out of its lane where it is in a pack."""
        if node not in self.names and self.program.graph.op[node] != CONST:
            place = self.packs.place.get(node)
            if place is None:
                self.compute(node)
            else:
                pack, lane = place
                vector = self.vectors[pack]
                x = self.code.name(f"extractelement {self.vector} {vector.name}, i32 {lane}")
                negative = vector.signs[lane]
                self.names[node] = self.code.name(f"fneg {self.type} {x}") if negative else x
        return super().value(node)

    def _packed(self, pack: Pack) -> _Vector:
        """The instruction of a pack."""
        x, *others = [self._operand(column) for column in pack.operands]
        t, name = self.vector, self.code.name
        if pack.op == SQRT:
            root = self.code.intrinsic("sqrt", t, self._with_signs(x, (False,) * self.width))
            return _Vector(root, (False,) * self.width)
        y = others[0]
        if pack.op in (MUL, DIV):
            verb = "fmul" if pack.op == MUL else "fdiv"
            return _Vector(name(f"{verb} {t} {x.name}, {y.name}"), _product(x, y))
        if pack.op == ADD:
            if x.constants:
                x, y = y, x
            verb = "fsub" if self._opposite(pack, x.signs, y) else "fadd"
            given = y.name if verb == "fsub" else self._with_signs(y, x.signs)
            return _Vector(name(f"{verb} {t} {x.name}, {given}"), x.signs)
        return self._fused(pack, x, y, others[1])

    def _fused(self, pack: Pack, x: _Vector, y: _Vector, rest: _Vector) -> _Vector:
        """``x y + rest``, rounded once."""
        signs, first, last = _product(x, y), x.name, rest.name
        if self._opposite(pack, signs, rest):
            first = self.code.name(f"fneg {self.vector} {x.name}")
            signs = rest.signs
        elif x.constants and not rest.constants:
            # the signs of constants are free
            first = self._with_signs(x, _product(y, rest))
            signs = rest.signs
        else:
            last = self._with_signs(rest, signs)
        return _Vector(self.code.intrinsic("fma", self.vector, first, y.name, last), signs)

    def _opposite(self, pack: Pack, signs: Signs, other: _Vector) -> bool:
        """Whether all used lanes have the opposite sign of those of a vector."""
        if other.constants:
            return False
        used = [k for k, node in enumerate(pack.nodes) if node is not None]
        return all(signs[k] != other.signs[k] for k in used)

    def _with_signs(self, x: _Vector, signs: Signs) -> str:
        """A vector with some signs."""
        if x.constants is not None:
            pairs = zip(x.constants, x.signs, signs, strict=True)
            return self._literal([-c if mine != wanted else c for c, mine, wanted in pairs])
        if x.signs == signs:
            return x.name
        kind = vector_type("i64" if self.dtype == "double" else "i32", self.width)
        element, bit = kind.split(" x ")[1][:-1], 63 if self.dtype == "double" else 31
        pairs_ = zip(x.signs, signs, strict=True)
        mask = ", ".join(f"{element} {-(1 << bit) if a != b else 0}" for a, b in pairs_)
        bits = self.code.name(f"bitcast {self.vector} {x.name} to {kind}")
        turned = self.code.name(f"xor {kind} {bits}, <{mask}>")
        return self.code.name(f"bitcast {kind} {turned} to {self.vector}")

    def _literal(self, values: Sequence[float]) -> str:
        return "<" + ", ".join(f"{self.dtype} {number(x, self.dtype)}" for x in values) + ">"

    def _operand(self, column: Column) -> _Vector:
        """The vector of an operand in each lane."""
        negative = tuple(edge is not None and bool(edge & 1) for edge in column)
        edges = [edge for edge in column if edge is not None]
        graph = self.program.graph
        if all(graph.op[edge >> 1] == CONST for edge in edges):
            values = [self._constant((edges[0] if x is None else x) >> 1) for x in column]
            return _Vector(self._literal(values), negative, tuple(values))
        pack = self.packs.vector(column)
        found = self.vectors[pack] if pack else self._gathered(column)
        return _Vector(found.name, _different(found.signs, negative))

    def _constant(self, node: int) -> float:
        value = self.program.graph.value[node]
        return value.single if isinstance(value, ByPrecision) and self.dtype == "float" else value

    def _gathered(self, column: Column) -> _Vector:
        """A vector of numbers that are elsewhere: one in all lanes, or each in its own."""
        nodes: Column = tuple(None if edge is None else edge >> 1 for edge in column)
        if nodes not in self.gathered:
            there = {node for node in nodes if node is not None}
            one = len(there) == 1
            self.gathered[nodes] = self._splat(there.pop()) if one else self._collected(nodes)
        return self.gathered[nodes]

    def _splat(self, node: int) -> _Vector:
        t, name = self.vector, self.code.name
        key = (node,) * self.width
        if key not in self.gathered:
            one = name(f"insertelement {t} poison, {self.type} {self.value(node)}, i32 0")
            mask = f"<{self.width} x i32> zeroinitializer"
            every = name(f"shufflevector {t} {one}, {t} poison, {mask}")
            self.gathered[key] = _Vector(every, (False,) * self.width)
        return self.gathered[key]

    def _collected(self, nodes: Column) -> _Vector:
        """A vector of lanes of other packs and of numbers that are in none."""
        t, width, x, signs = self.vector, self.width, "poison", [False] * self.width
        sources: dict[Pack, dict[int, int]] = {}
        for lane, node in enumerate(nodes):
            if node is not None and node in self.packs.place and node not in self.names:
                pack, own = self.packs.place[node]
                sources.setdefault(pack, {})[lane] = own
        for pack, lanes in sources.items():
            vector = self.vectors[pack]
            picked = [lanes.get(k, width + k) for k in range(width)]
            mask = ", ".join(f"i32 {k}" for k in picked)
            args = f"{t} {vector.name}, {t} {x}, <{width} x i32> <{mask}>"
            x = self.code.name(f"shufflevector {args}")
            for lane, own in lanes.items():
                signs[lane] = vector.signs[own]
        moved = {lane for lanes in sources.values() for lane in lanes}
        for lane, node in enumerate(nodes):
            if node is not None and lane not in moved:
                value = f"{self.type} {self.value(node)}"
                x = self.code.name(f"insertelement {t} {x}, {value}, i32 {lane}")
        return _Vector(x, tuple(signs))


def _product(x: _Vector, y: _Vector) -> Signs:
    """The signs of a product."""
    return _different(x.signs, y.signs)


def _different(one: Signs, other: Signs) -> Signs:
    return tuple(a != b for a, b in zip(one, other, strict=True))
