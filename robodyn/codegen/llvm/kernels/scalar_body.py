"""The instructions of a kernel for one state."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.kernel_body import Body
from robodyn.codegen.llvm.kernels.superword_code import SuperwordCode, SuperwordMemory, spots_of
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import ADD, CONST, COS, INPUT, MUL, SIN, Program, scalar_places


class ScalarBody(Body):
    """One state: numbers are loaded when first used and stored when known."""

    def __init__(
        self, code: Code, program: Program, found: Superwords, target: Target, dtype: str
    ) -> None:
        super().__init__(code, program, found, target, dtype, 1)
        self.inputs = scalar_places(program.inputs)
        self.outputs = scalar_places(program.outputs)
        self.found, width = found, target.lanes(dtype)
        self.memory = SuperwordMemory(found, program.graph, width)
        self.kept = code.slot(f"[{self.memory.size} x {dtype}]", 64) if self.memory.size else ""
        self.words = SuperwordCode(
            code, program.graph, self.memory, self.kept, dtype, width, "%out{}".format, self.stored
        )
        self.nodes = program.live_for(found.scalars(program))
        self.stores: dict[int, list[int]] = {}
        for k, edge in enumerate(program.results):
            if edge >> 1 not in found.place:
                self.stores.setdefault(edge >> 1, []).append(k)

    def input(self, index: int) -> str:
        """Load a scalar input."""
        port, k = self.inputs[index]
        at = self.code.at(f"%in{port}", k, self.dtype) if k else f"%in{port}"
        return self.code.name(f"load {self.dtype}, ptr {at}")

    def after(self, node: int) -> None:
        """Store the known results, and the values that superwords need."""
        for k in self.stores.get(node, ()):
            port, index = self.outputs[k]
            value = self.result(self.program.results[k])
            at = self.code.at(f"%out{port}", index, self.dtype) if index else f"%out{port}"
            self.code.do(f"store {self.dtype} {value}, ptr {at}")
            self.stored()  # here, as one node may be stored often: zero is
        for place, negative in self.memory.kept.get(node, ()):
            at = self.code.at(self.kept, place, self.dtype)
            self.code.do(f"store {self.dtype} {self.signed(2 * node + negative)}, ptr {at}")
            self.stored()

    def result(self, edge: int) -> str:
        """SSA name or literal of what is stored of an edge."""
        return self.signed(edge)

    def emit(self) -> None:
        """All scalars, and then all superwords."""
        super().emit()
        self.words.emit(self.found.order, spots_of(self.program, self.found))

    def gather_angles(self) -> None:
        """Angles that are inputs, or inputs and a constant, fill vectors of their own."""
        graph = self.program.graph
        early = []
        for node in self.nodes:
            if graph.op[node] in (SIN, COS):
                angle = graph.a[node] >> 1
                if angle not in early and self._early(angle):
                    early.append(angle)
        width = self.target.lanes(self.dtype)
        if width == 1:
            return
        for first in range(0, len(early), width):
            group = early[first : first + width]
            if len(group) == 1:
                continue
            lanes = 2
            while lanes < len(group):
                lanes *= 2
            self._together(group, lanes)

    def _early(self, node: int) -> bool:
        graph = self.program.graph
        if graph.op[node] == INPUT:
            return True
        return graph.op[node] in (ADD, MUL) and all(
            graph.op[edge >> 1] in (INPUT, CONST) for edge in (graph.a[node], graph.b[node])
        )

    def _together(self, group: list[int], lanes: int) -> None:
        graph, kind = self.program.graph, f"<{lanes} x {self.dtype}>"
        x = "zeroinitializer"
        for lane, node in enumerate(group):
            for needed in (graph.a[node] >> 1, graph.b[node] >> 1, node):
                self._known_early(needed if graph.op[node] != INPUT else node)
            x = self.code.name(
                f"insertelement {kind} {x}, {self.dtype} {self.names[node]}, i32 {lane}"
            )
        s, c = self.sincos.write(x, lanes)
        for lane, node in enumerate(group):
            self.trig[node] = (
                self.code.name(f"extractelement {kind} {s}, i32 {lane}"),
                self.code.name(f"extractelement {kind} {c}, i32 {lane}"),
            )

    def _known_early(self, node: int) -> None:
        graph, t = self.program.graph, self.dtype
        if node in self.names or graph.op[node] == CONST:
            return
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op == INPUT:
            self.names[node] = self.input(a)
        elif op == ADD:
            verb = "fsub" if b & 1 else "fadd"
            self.names[node] = self.code.name(f"{verb} {t} {self.signed(a)}, {self.value(b >> 1)}")
        else:
            self.names[node] = self.code.name(f"fmul {t} {self.signed(a)}, {self.signed(b)}")
