"""The instructions of superwords: after all scalars, which leave in memory what they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robodyn.codegen.llvm.kernels.kernel_body import Body, scalars_of
from robodyn.codegen.llvm.kernels.sincos import constant, vector_type
from robodyn.codegen.llvm.kernels.sums import ZERO, Known
from robodyn.codegen.llvm.kernels.superwords import Superword, Superwords
from robodyn.symbolic.graph import CONST

__all__ = ["SuperwordCode"]

#: Where a result is: output, index there less the lane, whether it has the other sign, lane.
_Spot = tuple[int, int, bool, int]


class SuperwordCode:
    """Superwords as instructions of a body.

    Parameters
    ----------
    body : Body
        Of one state.
    found : Superwords
    lanes : int
        Numbers in a vector.
    """

    def __init__(self, body: Body, found: Superwords, lanes: int) -> None:
        self._body, self._found, self._lanes = body, found, lanes
        self._type = vector_type(body.dtype, lanes)
        self._names: dict[Superword, str] = {}
        #: Places in memory: what lanes begin with, factors; of each scalar, with a sign.
        self._starts: dict[Superword, int] = {}
        self._factors: dict[int, int] = {}
        self._kept: dict[int, list[tuple[int, int]]] = {}
        self._size = 0
        for word in found.order:
            self._place_start(word)
        for word in found.order:
            for factor, _, _ in word.terms:
                self._place_factor(factor)
        #: The memory between scalars and superwords.
        self._memory = body.code.slot(f"[{self._size} x {body.dtype}]", 64) if self._size else ""

    def _place_start(self, word: Superword) -> None:
        scalars = [(k, x) for k, x in enumerate(word.start) if isinstance(x, int)]
        if scalars:
            self._starts[word] = self._size
            for k, edge in scalars:
                self._kept.setdefault(edge >> 1, []).append((self._size + k, edge & 1))
            self._size += self._lanes

    def _place_factor(self, factor: int) -> None:
        if factor not in self._factors and self._body.program.graph.op[factor] != CONST:
            self._factors[factor] = self._size
            self._kept.setdefault(factor, []).append((self._size, 0))
            self._size += 1

    def keep(self, node: int) -> None:
        """Store a scalar that is known now, if it is needed."""
        body = self._body
        for place, negative in self._kept.get(node, ()):
            at = self._at(self._memory, place)
            body.code.do(f"store {body.dtype} {body.signed(2 * node + negative)}, ptr {at}")
            body.stored()

    def emit(self) -> None:
        """All superwords, and the results that are in them."""
        places = scalars_of(self._body.program.outputs)
        results: dict[Superword, list[_Spot]] = {}
        for (port, index), edge in zip(places, self._body.program.results, strict=True):
            if edge >> 1 in self._found.place:
                word, lane = self._found.place[edge >> 1]
                spot = port, index - lane, edge != word.lanes[lane], lane
                results.setdefault(word, []).append(spot)
        for word in self._found.order:
            self._names[word] = self._sum(word)
            for run in _runs(results.get(word, ())):
                self._store(word, run)

    def _sum(self, word: Superword) -> str:
        body, t = self._body, self._type
        value = self._start(word) if any(x is not None for x in word.start) else None
        for factor, negative, other in word.terms:
            x, y, before = self._splat(factor), self._names[other], value or "zeroinitializer"
            if negative:
                x = body.code.name(f"fneg {t} {x}")
            if value is None:
                value = body.code.name(f"fmul {t} {x}, {y}")
            else:
                value = body.code.intrinsic("fma", t, x, y, value)
            # a factor may be no number, which must not meet the zeros of lanes that lack it
            pairs = zip(word.lanes, other.lanes, strict=True)
            value = self._where([x is None or y != ZERO for x, y in pairs], value, before)
        return value or "zeroinitializer"

    def _start(self, word: Superword) -> str:
        """What the sums begin with."""
        body, t, dtype = self._body, self._type, self._body.dtype
        known = [x.value if isinstance(x, Known) else 0.0 for x in word.start]
        constants = ", ".join(f"{dtype} {constant(x, dtype, 1)}" for x in known)
        if word not in self._starts:
            return f"<{constants}>"
        value = body.code.name(
            f"load {t}, ptr {self._at(self._memory, self._starts[word])}, align 64"
        )
        return self._where([isinstance(x, int) for x in word.start], value, f"<{constants}>")

    def _where(self, lanes: Sequence[bool], value: str, other: str) -> str:
        """One vector in some lanes, another in the others."""
        if all(lanes):
            return value
        mask = ", ".join(f"i1 {int(x)}" for x in lanes)
        t = self._type
        return self._body.code.name(
            f"select <{self._lanes} x i1> <{mask}>, {t} {value}, {t} {other}"
        )

    def _splat(self, factor: int) -> str:
        """A scalar in all lanes."""
        body, t, n, graph = self._body, self._type, self._lanes, self._body.program.graph
        if graph.op[factor] == CONST:
            return constant(graph.value[factor], body.dtype, n)
        x = body.code.name(
            f"load {body.dtype}, ptr {self._at(self._memory, self._factors[factor])}"
        )
        one = body.code.name(f"insertelement {t} poison, {body.dtype} {x}, i32 0")
        return body.code.name(f"shufflevector {t} {one}, {t} poison, <{n} x i32> zeroinitializer")

    def _store(self, word: Superword, run: Sequence[_Spot]) -> None:
        """Neighbouring lanes that are neighbours in an output."""
        body, value, kind, count = self._body, self._names[word], self._type, len(run)
        port, before, negative, lane = run[0]
        if negative:
            value = body.code.name(f"fneg {kind} {value}")
        if count < self._lanes:
            picked = ", ".join(f"i32 {lane + k}" for k in range(count))
            pick = f"{kind} {value}, {kind} poison, <{count} x i32> <{picked}>"
            value, kind = body.code.name(f"shufflevector {pick}"), f"<{count} x {body.dtype}>"
        at, size = self._at(f"%out{port}", before + lane), 8 if body.dtype == "double" else 4
        body.code.do(f"store {kind} {value}, ptr {at}, align {size}")
        body.stored()

    def _at(self, array: str, index: int) -> str:
        return self._body.code.at(array, index, self._body.dtype)


def _runs(spots: Sequence[_Spot]) -> Iterator[list[_Spot]]:
    """Results of a superword, those together whose lanes are neighbours as they are."""
    run: list[_Spot] = []
    for spot in sorted(spots):
        if run and run[-1] != (*spot[:3], spot[3] - 1):
            yield run
            run = []
        run.append(spot)
    if run:
        yield run
