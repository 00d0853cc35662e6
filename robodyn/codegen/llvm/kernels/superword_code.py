"""The instructions of superwords, after all scalars, which store their inputs in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.sincos import constant, vector_type
from robodyn.codegen.llvm.kernels.sums import ZERO, ConstantLane
from robodyn.codegen.llvm.kernels.superwords import Superword, Superwords
from robodyn.symbolic.graph import CONST, Graph, Program, scalar_places

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
                if factor not in self.factors and graph.op[factor] != CONST:
                    self.factors[factor] = self.size
                    self.kept.setdefault(factor, []).append((self.size, 0))
                    self.size += 1


class SuperwordCode:
    """Superwords as instructions of a function.

    at: Address of that memory.
    lanes: Numbers in a vector.
    output: From the number of an output to the address of its row.
    stored: Called after each store.
    """

    def __init__(
        self,
        code: Code,
        graph: Graph,
        memory: SuperwordMemory,
        at: str,
        dtype: str,
        lanes: int,
        output: Callable[[int], str],
        stored: Callable[[], None],
    ) -> None:
        self._code, self._graph, self._memory, self._at = code, graph, memory, at
        self._dtype, self._lanes, self._type = dtype, lanes, vector_type(dtype, lanes)
        self._output, self._stored = output, stored
        #: Values of superwords that are known.
        self.names: dict[Superword, str] = {}

    def emit(self, words: Iterable[Superword], results: Mapping[Superword, Sequence[Spot]]) -> None:
        """Superwords, and the results that are in them."""
        for word in words:
            self.names[word] = self._sum(word)
            for run in _runs(results.get(word, ())):
                self._store(word, run)

    def _sum(self, word: Superword) -> str:
        code, t = self._code, self._type
        value = self._start(word) if any(x is not None for x in word.start) else None
        for factor, negative, other in word.terms:
            x, y, before = self._splat(factor), self.names[other], value or "zeroinitializer"
            if negative:
                x = code.name(f"fneg {t} {x}")
            if value is None:
                value = code.name(f"fmul {t} {x}, {y}")
            else:
                value = code.intrinsic("fma", t, x, y, value)
            # a factor may be no number, which must not meet the zeros of lanes that lack it
            pairs = zip(word.lanes, other.lanes, strict=True)
            value = self._where([x is None or y != ZERO for x, y in pairs], value, before)
        return value or "zeroinitializer"

    def _start(self, word: Superword) -> str:
        """The vector of starting values of the sums."""
        t, dtype = self._type, self._dtype
        known = [x.value if isinstance(x, ConstantLane) else 0.0 for x in word.start]
        constants = ", ".join(f"{dtype} {constant(x, dtype, 1)}" for x in known)
        if word not in self._memory.starts:
            return f"<{constants}>"
        at = self._code.at(self._at, self._memory.starts[word], dtype)
        value = self._code.name(f"load {t}, ptr {at}, align 64")
        return self._where([isinstance(x, int) for x in word.start], value, f"<{constants}>")

    def _where(self, lanes: Sequence[bool], value: str, other: str) -> str:
        """A vector with some lanes of one vector and the other lanes of another."""
        if all(lanes):
            return value
        mask = ", ".join(f"i1 {int(x)}" for x in lanes)
        t = self._type
        return self._code.name(f"select <{self._lanes} x i1> <{mask}>, {t} {value}, {t} {other}")

    def _splat(self, factor: int) -> str:
        """A scalar in all lanes."""
        t, n, dtype = self._type, self._lanes, self._dtype
        if self._graph.op[factor] == CONST:
            return constant(self._graph.value[factor], dtype, n)
        at = self._code.at(self._at, self._memory.factors[factor], dtype)
        x = self._code.name(f"load {dtype}, ptr {at}")
        one = self._code.name(f"insertelement {t} poison, {dtype} {x}, i32 0")
        return self._code.name(f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def _store(self, word: Superword, run: Sequence[Spot]) -> None:
        """Neighbouring lanes that are neighbours in an output."""
        code, value, kind, count = self._code, self.names[word], self._type, len(run)
        port, before, negative, lane = run[0]
        if negative:
            value = code.name(f"fneg {kind} {value}")
        if count < self._lanes:
            picked = ", ".join(f"i32 {lane + k}" for k in range(count))
            pick = f"{kind} {value}, {kind} poison, <{count} x i32> <{picked}>"
            value, kind = code.name(f"shufflevector {pick}"), f"<{count} x {self._dtype}>"
        at, size = code.at(self._output(port), before + lane, self._dtype), 8
        code.do(f"store {kind} {value}, ptr {at}, align {size if self._dtype == 'double' else 4}")
        self._stored()


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
