"""Large programs with superwords in pieces: scalars first, which are pieces themselves.

Superwords are cut into functions of bounded size, as scalars are, and hand values on in memory. So
the time to compile them grows as their number does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.piece_code import PieceCode, with_memory
from robodyn.codegen.llvm.kernels.sums import ZERO, ConstantLane
from robodyn.codegen.llvm.kernels.superwords import Superword, Superwords
from robodyn.codegen.llvm.kernels.vectors import Vectors, shuffle
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Graph, Port, Program, scalar_places

#: Where a result is: output, index there less the lane, whether it has the other sign, lane.
Spot = tuple[int, int, bool, int]


class SuperwordMemory:
    """Memory in which scalars store the inputs of superwords.

    lanes: Numbers in a vector.
    starts: Place of what its lanes begin with.
    factors: Place of each node that is a factor of all lanes.
    kept: Of each scalar where it is kept, and with which sign.
    size: Numbers that there must be memory for.
    """

    def __init__(self, found: Superwords, graph: Graph, lanes: int) -> None:
        self.starts: dict[Superword, int] = {}
        self.factors: dict[int, int] = {}
        self.kept: dict[int, list[tuple[int, int]]] = {}
        self.size = 0
        for word in found.order:
            scalars = [(k, x) for k, x in enumerate(word.start) if isinstance(x, int)]
            if scalars:
                self.starts[word] = self.size
                for k, edge in scalars:
                    self.kept.setdefault(edge >> 1, []).append((self.size + k, edge & 1))
                self.size += lanes
        for word in found.order:
            for factor, _, _ in word.terms:
                if factor not in self.factors and graph.op[factor] != ops.CONST:
                    self.factors[factor] = self.size
                    self.kept.setdefault(factor, []).append((self.size, 0))
                    self.size += 1


class SuperwordCode:
    """Superwords as instructions of a function.

    w: Vectors in that function.
    at: Address of that memory.
    output: From the number of an output to the address of its row.
    names: Values of superwords that are known.
    """

    def __init__(
        self,
        w: Vectors,
        graph: Graph,
        memory: SuperwordMemory,
        at: str,
        output: Callable[[int], str],
    ) -> None:
        self._w, self._code, self._graph, self._memory, self._at = w, w.code, graph, memory, at
        self._output = output
        self.names: dict[Superword, str] = {}

    def emit(
        self,
        words: Iterable[Superword],
        results: Mapping[Superword, Sequence[Spot]],
        stored: Callable[[], None] = lambda: None,
    ) -> None:
        """Superwords, and the results that are in them; ``stored`` is called after each store."""
        for word in words:
            self.names[word] = self._sum(word)
            for run in _runs(results.get(word, ())):
                self._store(word, run)
                stored()

    def _sum(self, word: Superword) -> str:
        w = self._w
        value = self._start(word) if any(x is not None for x in word.start) else None
        for factor, negative, other in word.terms:
            x, y, before = self._splat(factor), self.names[other], value or "zeroinitializer"
            if negative:
                x = w.negative(x)
            if value is None:
                value = w.binary("fmul", x, y)
            else:
                value = w.intrinsic("fma", x, y, value)
            # a factor may be no number, which must not meet the zeros of lanes that lack it
            pairs = zip(word.lanes, other.lanes, strict=True)
            value = self._where([x is None or y != ZERO for x, y in pairs], value, before)
        return value or "zeroinitializer"

    def _start(self, word: Superword) -> str:
        """The vector of starting values of the sums."""
        known = self._w.literal(x.value if isinstance(x, ConstantLane) else 0.0 for x in word.start)
        if word not in self._memory.starts:
            return known
        at = self._code.at(self._at, self._memory.starts[word], self._w.dtype)
        value = self._code.name(f"load {self._w.type}, ptr {at}, align 64")
        return self._where([isinstance(x, int) for x in word.start], value, known)

    def _where(self, lanes: Sequence[bool], value: str, other: str) -> str:
        """A vector with some lanes of one vector and the other lanes of another."""
        if all(lanes):
            return value
        mask = ", ".join(f"i1 {int(x)}" for x in lanes)
        return self._w.select(f"<{mask}>", value, other)

    def _splat(self, factor: int) -> str:
        """A scalar in all lanes."""
        if self._graph.op[factor] == ops.CONST:
            return self._w.constant(self._graph.value[factor])
        at = self._memory.factors[factor]
        return self._w.splat(self._code.load(self._at, at, self._w.dtype))

    def _store(self, word: Superword, run: Sequence[Spot]) -> None:
        """Neighbouring lanes that are neighbours in an output."""
        w, value, kind, count = self._w, self.names[word], self._w.type, len(run)
        port, before, negative, lane = run[0]
        if negative:
            value = w.negative(value)
        if count < w.lanes:
            picked = range(lane, lane + count)
            value = w.name(shuffle(kind, value, "poison", picked))
            kind = f"<{count} x {w.dtype}>"
        at = self._code.at(self._output(port), before + lane, w.dtype)
        self._code.do(f"store {kind} {value}, ptr {at}, align {w.size}")


def spots_of(program: Program, found: Superwords) -> dict[Superword, list[Spot]]:
    """The results in each superword."""
    results: dict[Superword, list[Spot]] = {}
    for (port, index), edge in zip(scalar_places(program.outputs), program.results, strict=True):
        if edge >> 1 in found.place:
            word, lane = found.place[edge >> 1]
            spot = port, index - lane, edge != word.lanes[lane], lane
            results.setdefault(word, []).append(spot)
    return results


def _runs(spots: Sequence[Spot]) -> Iterator[list[Spot]]:
    """Results of a superword, those together whose lanes are neighbours as they are."""
    run: list[Spot] = []
    for spot in sorted(spots):
        if run and run[-1] != (*spot[:3], spot[3] - 1):
            yield run
            run = []
        run.append(spot)
    if run:
        yield run


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
