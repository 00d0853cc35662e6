"""The instructions of a kernel: for one state or for a vector of states."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.functions import function
from robodyn.codegen.llvm.kernels.guarded_sincos import GuardedSincos
from robodyn.codegen.llvm.kernels.sincos import constant, vector_type
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import (
    ADD,
    CONST,
    COS,
    DIV,
    INPUT,
    LESS,
    LESS_EQUAL,
    MUL,
    SELECT,
    SIDES,
    SIN,
    ByPrecision,
    Program,
)

#: Label of the last block.
EXIT = "exit"

#: Approximate number of stores in a block.
STORES = 200


class Body:
    """Instructions of one kernel: values by node, inputs and outputs by subclasses.

    code: The function that they are written into.
    found: Of the code for one state; it has the sums that are one instruction with a product, too.
    lanes: States in a vector.
    """

    def __init__(
        self,
        code: Code,
        program: Program,
        found: Superwords,
        target: Target,
        dtype: str,
        lanes: int,
    ) -> None:
        self.code = code
        self.program, self.target, self.dtype, self.lanes = program, target, dtype, lanes
        self.type = vector_type(dtype, lanes)
        self.names: dict[int, str] = {}
        self.trig: dict[int, tuple[str, str]] = {}
        self.sincos = GuardedSincos(code, dtype, target.fma)
        self.stores_in_block = 0
        self.never_null = "%in0"
        self.nodes = program.live()
        self.products = found.fused
        self.fused = {edge >> 1 for edge in self.products.values()}

    def input(self, index: int) -> str:
        """Value of a scalar input."""
        raise NotImplementedError  # pragma: no cover  (each kernel has its own)

    def after(self, node: int) -> None:
        """Store the results that are complete."""

    def value(self, node: int) -> str:
        """SSA name or literal of a node."""
        graph = self.program.graph
        if graph.op[node] == CONST:
            return constant(graph.value[node], self.dtype, self.lanes)
        return self.names[node]

    def signed(self, edge: int) -> str:
        """SSA name or literal of an edge."""
        graph, node = self.program.graph, edge >> 1
        if not edge & 1:
            return self.value(node)
        value = graph.value.get(node)
        if value is not None and not isinstance(value, ByPrecision):
            return constant(-value, self.dtype, self.lanes)
        return self.code.name(f"fneg {self.type} {self.value(node)}")

    def emit(self) -> None:
        """All nodes, in order."""
        self.gather_angles()
        for node in self.nodes:
            if node not in self.fused:
                self.compute(node)
            self.after(node)
            self.cut()

    def compute(self, node: int) -> None:
        """Write the instruction of a node, unless its value is known or needs none."""
        graph, t = self.program.graph, self.type
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == CONST or node in self.names:
            pass
        elif op == INPUT:
            self.names[node] = self.input(a)
        elif op == ADD and node in self.products:
            self.names[node] = self.with_product(node)
        elif op == ADD:
            verb = "fsub" if b & 1 else "fadd"
            given = f"{self.signed(a)}, {self.value(b >> 1)}"
            self.names[node] = self.code.name(f"{verb} {t} {given}")
        elif op in (MUL, DIV):
            verb = "fmul" if op == MUL else "fdiv"
            self.names[node] = self.code.name(f"{verb} {t} {self.signed(a)}, {self.signed(b)}")
        elif op in (SIN, COS):
            self.names[node] = self.angle(a >> 1)[0 if op == SIN else 1]
        elif op not in (LESS, LESS_EQUAL, SIDES):  # which are a part of what selects
            kind = graph.op[a >> 1] if op == SELECT else op
            names = [self.signed(edge) for edge in graph.operands(node)]
            self.names[node] = function(self.code, kind, self.dtype, self.lanes, names)

    def with_product(self, node: int) -> str:
        """Write a fused multiply-add: a sum with a product, rounded once."""
        graph, product = self.program.graph, self.products[node]
        rest = graph.b[node] if product == graph.a[node] else graph.a[node]
        x, y = graph.a[product >> 1] ^ (product & 1), graph.b[product >> 1]
        return self.code.intrinsic("fma", self.type, *[self.signed(e) for e in (x, y, rest)])

    def stored(self) -> None:
        """Count a store."""
        self.stores_in_block += 1
        self.cut()

    def cut(self) -> None:
        """Begin a new block after many stores, as LLVM compares each with all before it.

        The branch depends on a pointer that is never null, which LLVM does not know; it would join
        blocks that only follow one another.
        """
        if self.stores_in_block < STORES:
            return
        following = self.code.label("next")
        never = self.code.name(f"icmp eq ptr {self.never_null}, null")
        self.code.branch(never, EXIT, following, expected=False)
        self.code.begin(following)
        self.stores_in_block = 0

    def gather_angles(self) -> None:
        """Evaluate angles that are known from the start together, if that is faster."""

    def angle(self, node: int) -> tuple[str, str]:
        """Sine and cosine of a node, evaluated once."""
        if node not in self.trig:
            self.trig[node] = self.sincos.write(self.value(node), self.lanes)
        return self.trig[node]
