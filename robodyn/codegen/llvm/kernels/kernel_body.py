"""The instructions of a kernel: for one state or for a vector of states."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.sincos import (
    constant,
    largest_angle,
    sincos,
    slow_function,
    slow_name,
    vector_type,
)
from robodyn.codegen.llvm.kernels.superwords import Superwords, superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import ADD, CONST, DIV, INPUT, MUL, SIN, SQRT, Port, Program

__all__ = ["EXIT", "Body", "scalars_of"]

#: Label of the last block.
EXIT = "exit"

#: Stores of a block, about.
STORES = 200


class Body:
    """Instructions of one kernel: values by node, inputs and outputs by subclasses.

    Parameters
    ----------
    code : Code
        The function that they are written into.
    program : Program
    target : Target
    dtype : {"double", "float"}
    lanes : int
        States in a vector.
    """

    def __init__(
        self, code: Code, program: Program, target: Target, dtype: str, lanes: int
    ) -> None:
        self.code = code
        self.program, self.target, self.dtype, self.lanes = program, target, dtype, lanes
        self.type = vector_type(dtype, lanes)
        self.names: dict[int, str] = {}
        self.trig: dict[int, tuple[str, str]] = {}
        #: By lanes: functions for angles out of range, and memory for their sine and cosine.
        self.slow: dict[int, Code] = {}
        self.scratch: dict[int, tuple[str, str]] = {}
        self.stores_in_block = 0
        self.never_null = "%in0"
        self.nodes = program.live()
        #: Sums that are one instruction with a product are the same for one state and many.
        self.superwords = (
            superwords(program, target.lanes(dtype)) if target.fma else Superwords([], {}, {})
        )
        self.products = self.superwords.fused
        self.fused = {edge >> 1 for edge in self.products.values()}

    def input(self, index: int) -> str:
        """Value of a scalar input."""
        raise NotImplementedError  # pragma: no cover  (each kernel has its own)

    def after(self, node: int) -> None:
        """Store what is complete now."""

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
        if graph.op[node] == CONST:
            return constant(-graph.value[node], self.dtype, self.lanes)
        return self.code.name(f"fneg {self.type} {self.value(node)}")

    def emit(self) -> None:
        """All nodes, in order."""
        graph, t = self.program.graph, self.type
        self.gather_angles()
        for node in self.nodes:
            op, a, b = graph.op[node], graph.a[node], graph.b[node]
            if op == CONST or node in self.names or node in self.fused:
                pass
            elif op == INPUT:
                self.names[node] = self.input(a)
            elif op == ADD and node in self.products:
                self.names[node] = self.with_product(node)
            elif op == ADD:
                verb = "fsub" if b & 1 else "fadd"
                self.names[node] = self.code.name(
                    f"{verb} {t} {self.signed(a)}, {self.value(b >> 1)}"
                )
            elif op in (MUL, DIV):
                verb = "fmul" if op == MUL else "fdiv"
                self.names[node] = self.code.name(f"{verb} {t} {self.signed(a)}, {self.signed(b)}")
            elif op == SQRT:
                self.names[node] = self.code.intrinsic("sqrt", t, self.signed(a))
            else:
                self.names[node] = self.angle(a >> 1)[0 if op == SIN else 1]
            self.after(node)
            self.cut()

    def with_product(self, node: int) -> str:
        """A sum with a product in it, rounded once."""
        graph, product = self.program.graph, self.products[node]
        rest = graph.b[node] if product == graph.a[node] else graph.a[node]
        x, y = graph.a[product >> 1] ^ (product & 1), graph.b[product >> 1]
        return self.code.intrinsic("fma", self.type, *[self.signed(e) for e in (x, y, rest)])

    def stored(self) -> None:
        """Count a store."""
        self.stores_in_block += 1
        self.cut()

    def cut(self) -> None:
        """Begin a new block where one has many stores: LLVM compares each with all before it.

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
        """Evaluate angles that are known from the start together, where that is faster."""

    def angle(self, node: int) -> tuple[str, str]:
        """Sine and cosine of a node, evaluated once."""
        if node not in self.trig:
            self.trig[node] = self.guarded(self.value(node), self.lanes)
        return self.trig[node]

    def guarded(self, x: str, lanes: int) -> tuple[str, str]:
        """Fast sine and cosine within their range, the C library beyond it."""
        code, dtype = self.code, self.dtype
        t, flags = vector_type(dtype, lanes), vector_type("i1", lanes)
        s, c = sincos(code, x, dtype, lanes, self.target.fma)
        size = code.intrinsic("fabs", t, x)
        limit = constant(largest_angle(dtype, self.target.fma), dtype, lanes)
        each = beyond = code.name(f"fcmp ogt {t} {size}, {limit}")
        if lanes > 1:
            reduce = f"i1 @llvm.vector.reduce.or.v{lanes}i1"
            code.declare(f"declare {reduce}({flags})")
            beyond = code.name(f"call {reduce}({flags} {beyond})")
        slow, done, before = code.label("slow"), code.label("done"), code.block
        code.branch(beyond, slow, done, expected=False)
        code.begin(slow)
        s_slow, c_slow = self._slow_sincos(x, lanes)
        if lanes > 1:  # only of angles beyond it: the others are as they are elsewhere
            s_slow = code.name(f"select {flags} {each}, {t} {s_slow}, {t} {s}")
            c_slow = code.name(f"select {flags} {each}, {t} {c_slow}, {t} {c}")
        code.begin(done)
        sine = code.name(f"phi {t} [ {s}, %{before} ], [ {s_slow}, %{slow} ]")
        cosine = code.name(f"phi {t} [ {c}, %{before} ], [ {c_slow}, %{slow} ]")
        return sine, cosine

    def _slow_sincos(self, x: str, lanes: int) -> tuple[str, str]:
        """Sine and cosine by the C library."""
        code, t = self.code, vector_type(self.dtype, lanes)
        if lanes not in self.slow:
            self.slow[lanes] = slow_function(self.dtype, lanes)
            self.scratch[lanes] = code.slot(t, 64), code.slot(t, 64)
        s, c = self.scratch[lanes]
        code.do(f"call void @{slow_name(lanes)}({t} {x}, ptr {s}, ptr {c})")
        return code.name(f"load {t}, ptr {s}, align 64"), code.name(f"load {t}, ptr {c}, align 64")


def scalars_of(ports: tuple[Port, ...]) -> list[tuple[int, int]]:
    """(port, index in the port) of each scalar."""
    return [(p, k) for p, port in enumerate(ports) for k in range(port.size)]
