"""The instructions of a kernel for one state."""

from __future__ import annotations

from robodyn.codegen.llvm.kernels.kernel_body import Body
from robodyn.codegen.llvm.kernels.sincos import sincos
from robodyn.codegen.llvm.kernels.superword_pieces import SuperwordCode, SuperwordMemory, spots_of
from robodyn.codegen.llvm.kernels.superwords import Superwords
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program, scalar_places


class ScalarBody(Body):
    """One state: numbers are loaded when first used and stored when known.

    width: Numbers in a vector.
    """

    def __init__(self, w: Vectors, program: Program, found: Superwords, width: int) -> None:
        super().__init__(w, program, found.fused)
        self.inputs = scalar_places(program.inputs)
        self.outputs = scalar_places(program.outputs)
        self.found, self.width = found, width
        self.wide_angles: dict[int, Vectors] = {}
        self.memory = SuperwordMemory(found, program.graph, width)
        self.kept = ""
        if self.memory.size:
            self.kept = w.code.slot(f"[{self.memory.size} x {w.dtype}]", 64)
        self.nodes = program.live_for(found.scalars(program))
        self.stores: dict[int, list[int]] = {}
        for k, edge in enumerate(program.results):
            if edge >> 1 not in found.place:
                self.stores.setdefault(edge >> 1, []).append(k)

    def input(self, index: int) -> str:
        """Load a scalar input."""
        port, k = self.inputs[index]
        return self.code.name(f"load {self.w.dtype}, ptr {self._at(f'%in{port}', k)}")

    def after(self, node: int) -> None:
        """Store the known results, and the values that superwords need."""
        for k in self.stores.get(node, ()):
            port, index = self.outputs[k]
            value = self.result(self.program.results[k])
            # counted one by one, as one node may be stored often: zero is
            self._store(value, self._at(f"%out{port}", index))
        for place, negative in self.memory.kept.get(node, ()):
            at = self.code.at(self.kept, place, self.w.dtype)
            self._store(self.signed(2 * node + negative), at)

    def _at(self, array: str, k: int) -> str:
        return self.code.at(array, k, self.w.dtype) if k else array

    def _store(self, value: str, at: str) -> None:
        self.code.do(f"store {self.w.dtype} {value}, ptr {at}")
        self.stored()

    def result(self, edge: int) -> str:
        """SSA name or literal of what is stored of an edge."""
        return self.signed(edge)

    def emit(self) -> None:
        """All scalars, and then all superwords."""
        self.gather_angles()
        super().emit()
        vectors = Vectors(self.code, self.w.dtype, self.width)
        words = SuperwordCode(vectors, self.graph, self.memory, self.kept, "%out{}".format)
        words.emit(self.found.order, spots_of(self.program, self.found), self.stored)

    def gather_angles(self) -> None:
        """Angles that are inputs, or inputs and a constant, fill vectors of their own."""
        graph, width = self.graph, self.width
        angles = (graph.a[node] >> 1 for node in self.nodes if graph.op[node] in (ops.SIN, ops.COS))
        early = [*dict.fromkeys(angle for angle in angles if self._early(angle))]
        for first in range(0, len(early), width):
            group = early[first : first + width]
            if len(group) > 1:
                self._together(group, 1 << (len(group) - 1).bit_length())

    def _early(self, node: int) -> bool:
        graph = self.graph
        if graph.op[node] == ops.INPUT:
            return True
        pair = (graph.a[node] >> 1, graph.b[node] >> 1)
        return graph.op[node] in (ops.ADD, ops.MUL) and all(graph.op[x] <= ops.INPUT for x in pair)

    def _together(self, group: list[int], lanes: int) -> None:
        own = Vectors(self.code, self.w.dtype, lanes, self.w.fma)
        wide = self.wide_angles.setdefault(lanes, own)
        x = "zeroinitializer"
        for lane, node in enumerate(group):
            for edge in self.graph.operands(node):
                self.compute(edge >> 1)
            self.compute(node)
            x = wide.with_lane(x, lane, self.names[node])
        s, c = sincos(wide, x)
        for lane, node in enumerate(group):
            self.w.angles[self.names[node]] = wide.lane(s, lane), wide.lane(c, lane)
