"""Large programs with superwords in pieces: scalars first, which are pieces themselves.

Superwords are cut into functions of bounded size, as scalars are, and hand values on in memory. So
the time to compile them grows as their number does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.piece_code import PieceCode, with_memory
from robodyn.codegen.llvm.kernels.superword_code import SuperwordCode, SuperwordMemory, spots_of
from robodyn.codegen.llvm.kernels.superwords import Superword, Superwords
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Port, Program

#: Largest number of products in a function of more than one superword.
MOST = 400


class SuperwordPieces:
    """All functions of a program with superwords, for one state."""

    def __init__(self, program: Program, found: Superwords, target: Target, dtype: str) -> None:
        self._program, self._target, self._dtype = program, target, dtype
        self._lanes = target.lanes(dtype)
        self._memory = SuperwordMemory(found, program.graph, self._lanes)
        elsewhere = {k for k, edge in enumerate(program.results) if edge >> 1 in found.place}
        scalars = self._of_scalars(elsewhere)
        self._scalars = PieceCode(scalars, found.fused, target, dtype, 1, elsewhere)
        self._results = spots_of(program, found)
        self._groups = _groups(found)
        #: Places of the vectors that go from one function to another, and how many these are.
        self._places, self._vectors = _places(self._groups)
        self._codes = [self._code(k, group) for k, group in enumerate(self._groups)]

    def _of_scalars(self, elsewhere: Collection[int]) -> Program:
        """The program with the inputs of superwords as an output, without their results."""
        program = self._program
        zero = program.graph.constant(0.0)
        results = [zero if k in elsewhere else x for k, x in enumerate(program.results)]
        kept = [zero] * self._memory.size
        for node, places in self._memory.kept.items():
            for place, negative in places:
                kept[place] = 2 * node + negative
        outputs = (*program.outputs, Port("superwords", (len(kept),)))
        return replace(program, outputs=outputs, results=(*results, *kept))

    def call(self, code: Code, rows: list[str]) -> None:
        """Compute a state; all results are NaN if memory is exhausted.

        rows: Address of each array, inputs first.
        """
        size = 8 if self._dtype == "double" else 4
        line = -(-self._memory.size // self._lanes) * self._lanes
        bytes_ = size * (line + self._vectors * self._lanes)
        with_memory(
            code,
            bytes_,
            lambda memory: self._compute(code, rows, memory, code.at(memory, size * line, "i8")),
            lambda: self._scalars.refuse(code, rows),
        )

    def _compute(self, code: Code, rows: list[str], memory: str, vectors: str) -> None:
        self._scalars.call(code, [*rows, memory])
        listed = code.slot(f"[{len(rows)} x ptr]")
        for k, row in enumerate(rows):
            code.store(row, listed, k, "ptr")
        for k, words in enumerate(self._codes):
            code.need(words)
            code.do(f"call void @words{k}(ptr {listed}, ptr {memory}, ptr {vectors})")

    def _code(self, number: int, group: list[Superword]) -> Code:
        """A function of some superwords."""
        attributes = f"noinline {self._target.attributes}"
        given = "ptr noalias %rows, ptr noalias %memory, ptr noalias %vectors"
        code = Code(f"@words{number}({given})", "internal void", attributes)
        w, rows = Vectors(code, self._dtype, self._lanes), dict[int, str]()

        def output(port: int) -> str:
            if port not in rows:
                rows[port] = code.load("%rows", len(self._program.inputs) + port, "ptr").name
            return rows[port]

        words = SuperwordCode(w, self._program.graph, self._memory, "%memory", output)
        own = set(group)
        for word in group:
            for _, _, other in word.terms:
                if other not in words.names and other not in own:
                    words.names[other] = code.load("%vectors", self._places[other], w.type).name
            words.emit([word], self._results)
            if word in self._places:
                code.store(words.names[word], "%vectors", self._places[word], w.type)
        return code


def _groups(found: Superwords) -> list[list[Superword]]:
    """Superwords of each function."""
    groups: list[list[Superword]] = [[]]
    count = 0
    for word in found.order:
        if count > MOST:
            groups.append([])
            count = 0
        groups[-1].append(word)
        count += 1 + len(word.terms)
    return groups


def _places(groups: list[list[Superword]]) -> tuple[dict[Superword, int], int]:
    """Of superwords that later functions need a place in memory; how many places there are."""
    last: dict[Superword, int] = {}
    for k, group in enumerate(groups):
        for word in group:
            for _, _, other in word.terms:
                last[other] = k
    places: dict[Superword, int] = {}
    size, free = 0, list[int]()
    done: dict[int, list[int]] = {}
    for k, group in enumerate(groups):
        for word in group:
            if last.get(word, -1) > k:
                if not free:
                    free.append(size)
                    size += 1
                places[word] = free.pop()
                done.setdefault(last[word], []).append(places[word])
        free += done.pop(k, [])  # values that this function reads last, which later ones overwrite
    return places, size
