"""The instructions of a kernel: for one state or for a vector of states."""

from __future__ import annotations

from robodyn.codegen.llvm.kernels.sincos import constant, largest_angle, sincos, slow_function
from robodyn.codegen.llvm.kernels.superwords import Superwords, superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import ADD, CONST, DIV, INPUT, MUL, SIN, SQRT, Port, Program

__all__ = ["Body", "scalars_of", "suffix"]

#: Stores of a block, about.
STORES = 200


class Body:
    """Instructions of one kernel: values by node, inputs and outputs by subclasses."""

    def __init__(self, program: Program, target: Target, dtype: str, lanes: int) -> None:
        self.program, self.target, self.dtype, self.lanes = program, target, dtype, lanes
        self.type = dtype if lanes == 1 else f"<{lanes} x {dtype}>"
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.trig: dict[int, tuple[str, str]] = {}
        self.counter = 0
        self.block = "entry"
        self.slow: set[int] = set()
        #: Lanes of the vectors that are multiplied and added.
        self.widths = {lanes}
        self.stores_in_block = 0
        self.never_null = "%in0"
        self.nodes = program.live()
        #: Sums that are one instruction with a product are the same for one state and many.
        self.superwords = (
            superwords(program, target.lanes(dtype)) if target.fma else Superwords([], {}, {})
        )
        self.products = self.superwords.fused
        self.fused = {edge >> 1 for edge in self.products.values()}

    def put(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        self.counter += 1
        name = f"%v{self.counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a value."""
        self.lines.append(f"  {text}")

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
        return self.put(f"fneg {self.type} {self.value(node)}")

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
                self.names[node] = self.put(f"{verb} {t} {self.signed(a)}, {self.value(b >> 1)}")
            elif op in (MUL, DIV):
                verb = "fmul" if op == MUL else "fdiv"
                self.names[node] = self.put(f"{verb} {t} {self.signed(a)}, {self.signed(b)}")
            elif op == SQRT:
                kind = suffix(self.dtype, self.lanes)
                x = self.signed(a)
                self.names[node] = self.put(f"call {t} @llvm.sqrt.{kind}({t} {x})")
            else:
                self.names[node] = self.angle(a >> 1)[0 if op == SIN else 1]
            self.after(node)
            self.cut()

    def with_product(self, node: int) -> str:
        """A sum with a product in it, rounded once."""
        graph, t = self.program.graph, self.type
        product = self.products[node]
        rest = graph.b[node] if product == graph.a[node] else graph.a[node]
        x, y = graph.a[product >> 1] ^ (product & 1), graph.b[product >> 1]
        given = ", ".join(f"{t} {self.signed(edge)}" for edge in (x, y, rest))
        return self.put(f"call {t} @llvm.fma.{suffix(self.dtype, self.lanes)}({given})")

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
        self.counter += 1
        never, name = f"%never{self.counter}", f"next{self.counter}"
        self.lines.append(f"  {never} = icmp eq ptr {self.never_null}, null")
        self.do(f"br i1 {never}, label %exit, label %{name}, !prof !0")
        self.lines.append(f"{name}:")
        self.block, self.stores_in_block = name, 0

    def gather_angles(self) -> None:
        """Evaluate angles that are known from the start together, where that is faster."""

    def angle(self, node: int) -> tuple[str, str]:
        """Sine and cosine of a node, evaluated once."""
        if node not in self.trig:
            self.trig[node] = self.guarded(self.value(node), self.lanes)
        return self.trig[node]

    def guarded(self, x: str, lanes: int) -> tuple[str, str]:
        """Fast sine and cosine within their range, the C library beyond it."""
        dtype = self.dtype
        t = dtype if lanes == 1 else f"<{lanes} x {dtype}>"
        kind = suffix(dtype, lanes)
        self.counter += 1
        k = self.counter
        lines, s, c = sincos(x, f"t{k}", dtype, lanes, self.target.fma)
        self.lines += lines
        size = self.put(f"call {t} @llvm.fabs.{kind}({t} {x})")
        limit = constant(largest_angle(dtype, self.target.fma), dtype, lanes)
        flag = "i1" if lanes == 1 else f"<{lanes} x i1>"
        each = beyond = self.put(f"fcmp ogt {t} {size}, {limit}")
        if lanes > 1:
            beyond = self.put(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({flag} {beyond})")
        self.slow.add(lanes)
        self.do(f"br i1 {beyond}, label %slow{k}, label %done{k}, !prof !0")
        self.lines.append(f"slow{k}:")
        # scratch is at the top of the function
        self.do(f"call void @slow_sincos_{lanes}({t} {x}, ptr %scratch_s, ptr %scratch_c)")
        s_slow = self.put(f"load {t}, ptr %scratch_s, align 64")
        c_slow = self.put(f"load {t}, ptr %scratch_c, align 64")
        if lanes > 1:  # only of angles beyond it: the others are as they are elsewhere
            s_slow = self.put(f"select {flag} {each}, {t} {s_slow}, {t} {s}")
            c_slow = self.put(f"select {flag} {each}, {t} {c_slow}, {t} {c}")
        self.do(f"br label %done{k}")
        self.lines.append(f"done{k}:")
        before, self.block = self.block, f"done{k}"
        sine = self.put(f"phi {t} [ {s}, %{before} ], [ {s_slow}, %slow{k} ]")
        cosine = self.put(f"phi {t} [ {c}, %{before} ], [ {c_slow}, %slow{k} ]")
        return sine, cosine

    def scratch(self) -> list[str]:
        """Room for the slow path."""
        width = max(self.slow, default=1)
        return (
            [f"  %scratch_{x} = alloca [{width} x {self.dtype}], align 64" for x in "sc"]
            if self.slow
            else []
        )

    def declarations(self) -> list[str]:
        """What the body calls."""
        dtype, text = self.dtype, []
        for lanes in sorted(self.widths | self.slow):
            t = dtype if lanes == 1 else f"<{lanes} x {dtype}>"
            s = suffix(dtype, lanes)
            text += [
                f"declare {t} @llvm.fma.{s}({t}, {t}, {t})",
                f"declare {t} @llvm.fabs.{s}({t})",
                f"declare {t} @llvm.sqrt.{s}({t})",
            ]
            if lanes > 1:
                text.append(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)")
            if lanes in self.slow:
                text.append(
                    slow_function(dtype, lanes).replace("@slow_sincos(", f"@slow_sincos_{lanes}(")
                )
        text += ["declare double @robodyn_sin(double)", "declare double @robodyn_cos(double)"]
        text.append('!0 = !{!"branch_weights", i32 1, i32 100000}')
        return text


def suffix(dtype: str, lanes: int) -> str:
    """Of LLVM's functions of a number, or of a vector of them."""
    scalar = "f64" if dtype == "double" else "f32"
    return scalar if lanes == 1 else f"v{lanes}{scalar}"


def scalars_of(ports: tuple[Port, ...]) -> list[tuple[int, int]]:
    """(port, index in the port) of each scalar."""
    return [(p, k) for p, port in enumerate(ports) for k in range(port.size)]
