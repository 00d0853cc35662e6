"""The machine code of a motion: many steps of many robots, the functions of a robot being given.

The program is written by running the text of an integrator once over symbols. It knows no robot:
sizes and the addresses of the robot's functions are words of a table, so that one program serves
all robots that need the same parts of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from robodyn.codegen.llvm.loops import Code, Number, Variable
from robodyn.codegen.llvm.rows import Buffer, Rows
from robodyn.simulation.integrators.method import Coordinates, Integrator
from robodyn.simulation.step_code.block import Block
from robodyn.simulation.step_code.symbols import Duration, Instant
from robodyn.simulation.step_code.words import Words, words_of

__all__ = ["APART", "DIVERGED", "DRIFT", "NEWTON", "OPEN", "Plan", "StepProgram", "step_program"]

#: Drift [m, rad] that is not mended, steps that mend it, and what no motion goes on with.
DRIFT, NEWTON, APART = 1e-12, 8, 1e-6

#: Gaps of loops [m, rad] with which no motion starts, and none that gains hold closed goes on.
OPEN = 1e-3

#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


@dataclass(frozen=True)
class Plan:
    """What shapes the program.

    Attributes
    ----------
    flat : bool
        All coordinates add.
    driven : bool
        Some joints follow paths.
    closed : bool
        There are loops, which are closed after every step.
    stabilised : bool
        They are held closed by gains, and only looked at.
    dynamics, control, corrections : int
        Inputs of the functions besides the state and forces; ``control`` is -1 without a
        controller that is machine code.
    cut : bool
        Efforts of the controller are cut to a limit.
    """

    flat: bool
    driven: bool = False
    closed: bool = False
    stabilised: bool = False
    dynamics: int = 0
    control: int = -1
    corrections: int = 0
    cut: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Names of the words of the table."""
        return words_of(self.dynamics, max(self.control, 0), self.corrections)


@dataclass(frozen=True)
class StepProgram:
    """A program and what its caller has to know.

    Attributes
    ----------
    ir : str
        Of ``run(begin, end, words, unused)`` for some of the robots.
    parts : tuple of float
        Instants of a step at which paths are needed: 0 the start, 1 the end.
    room : (int, int, int)
        Arrays of positions, of speeds and of single numbers that each block needs.
    """

    ir: str
    parts: tuple[float, ...]
    room: tuple[int, int, int]


def step_program(integrator: Integrator, plan: Plan) -> StepProgram:
    """The program of an integrator."""
    code = Code("@run(i64 %begin, i64 %end, ptr %words, ptr %unused)")
    return _Writer(code, integrator, plan).program()


class _Writer:
    """The program while it is written."""

    def __init__(self, code: Code, integrator: Integrator, plan: Plan) -> None:
        self.code, self.integrator, self.plan = code, integrator, plan
        self.words = Words(code, plan.words)
        self.parts: list[float] = [0.0]
        self.taken = {"q": 0, "v": 0, "1": 0}

    def program(self) -> StepProgram:
        """Blocks of robots, one after the other."""
        code, words = self.code, self.words
        begin, end = (Number(code, f"%{x}", "i64") for x in ("begin", "end"))
        most = words.number("block")
        room = self._allocated()
        for b in code.each((end - begin + most - 1) / most):
            first = begin + b * most
            count = code.choose(end - first < most, end - first, most)
            block = Block(code, words, room, first, count)
            self._motion(block)
            self.taken = block.taken
        code.do(f"call void {words.pointer('free')}(ptr {room.pointer})")
        taken = self.taken
        return StepProgram(code.ir(), tuple(self.parts), (taken["q"], taken["v"], taken["1"]))

    def _allocated(self) -> Buffer:
        size, allocate = self.words.number("room") * 8, self.words.pointer("allocate")
        return Buffer(self.code, self.code.put(f"call ptr {allocate}(i64 {size.name})", "").name)

    # -- one block ----------------------------------------------------------------------------

    def _motion(self, block: Block) -> None:
        """All steps of a block, up to one that cannot be done here."""
        code, words = self.code, self.words
        last = words.number("last")
        going = code.variable(1)
        for k in code.each(last + words.number("final"), start=words.number("first")):
            with code.when(going.value.equals(1)):
                q, v = block.state("q", "q"), block.state("v", "v")
                a, forces = self._start(block, k, q, v)
                self._record(block, k, q, v, a, forces)
                with code.when(k < last):
                    self._step(block, k, (q, v, a), going)

    def _start(self, block: Block, k: Number, q: Buffer, v: Buffer) -> tuple[Buffer, Buffer]:
        """Accelerations at an instant, and the forces that make them."""
        tau = block.state("tau", "v")
        if self.plan.control >= 0:
            row = k - self.words.number("table")
            extras = [block.extra(f"control{n}", row) for n in range(self.plan.control)]
            given = [(q.pointer, block.nq), (v.pointer, block.nv), *extras]
            block.call("control", [*given, (tau.pointer, block.nv)])
        if self.plan.cut:
            self._cut(block, tau)
        self._tau = tau
        return self._dynamics(block, k, 0, q, v)

    def _cut(self, block: Block, tau: Buffer) -> None:
        """Efforts within their limits."""
        code, effort = self.code, self.words.array("effort")
        for r in code.each(block.count):
            for j in code.each(block.nv):
                at, most = r * block.nv + j, effort.get(j)
                x = tau.get(at)
                x = code.choose(x > most, most, x)
                least = -most
                tau.put(at, code.choose(x < least, least, x))

    def _record(
        self, block: Block, k: Number, q: Buffer, v: Buffer, a: Buffer, forces: Buffer
    ) -> None:
        """Copy a sample, if there is one at this instant."""
        code, words = self.code, self.words
        every = words.number("every")
        sampled = (k - (k / every) * every).equals(0) | k.equals(words.number("end"))
        with code.when(sampled):
            sample = (k + every - 1) / every - words.number("before")
            row = sample * words.number("robots") + block.first
            for name, kind, width, source in (
                ("samples_q", "q", block.nq, q),
                ("samples_v", "v", block.nv, v),
                ("samples_a", "v", block.nv, a),
                ("samples_tau", "v", block.nv, forces),
            ):
                block.copy(source, words.array(name).part(row * width), kind)

    def _step(
        self, block: Block, k: Number, state: tuple[Buffer, Buffer, Buffer], going: Variable
    ) -> None:
        """The state after a step, unless it cannot be carried on."""
        code, times = self.code, self.words.array("times")
        q, v, a = (Rows.of(x) for x in state)
        start, end = times.get(k), times.get(k + 1)
        h = Duration(1.0, code.put(f"fsub double {end.name}, {start.name}", "double"))

        def acceleration(t: Instant, q: Rows, v: Rows) -> Rows:
            stage = block.kept(q, "q"), block.kept(v, "v")
            node = self._node(t)
            self._drive(block, k, node, *stage)
            return Rows.of(self._dynamics(block, k, node, *stage)[0])

        moved: Any = self.integrator.step(
            acceleration,  # type: ignore[arg-type]  # symbols in place of numbers and arrays
            self._coordinates(block),
            Instant(0.0),  # type: ignore[arg-type]
            q,  # type: ignore[arg-type]
            v,  # type: ignore[arg-type]
            h,  # type: ignore[arg-type]
            a,  # type: ignore[arg-type]
        )
        new_q, new_v = block.kept(moved[0], "q"), block.kept(moved[1], "v")
        node = self._node(Instant(1.0))
        self._drive(block, k, node, new_q, new_v)
        gaps = self._closed(block, k, node, new_q, new_v) if self.plan.closed else None
        self._carry_on(block, k, (new_q, new_v), gaps, going)

    def _node(self, t: Instant) -> int:
        """Number of an instant of the step among those at which paths are needed."""
        if t.part not in self.parts:
            self.parts.append(t.part)
        return self.parts.index(t.part)

    def _coordinates(self, block: Block) -> Any:
        """How the coordinates of the robot move."""
        if self.plan.flat:
            return Coordinates(lambda q, u: q + u, lambda u, v: v)

        def called(function: str, kinds: str) -> Any:
            def result(x: Rows, y: Rows) -> Rows:
                out = block.buffer(kinds[2])
                width = {"q": block.nq, "v": block.nv}
                arrays = (block.kept(x, kinds[0]), block.kept(y, kinds[1]), out)
                pairs = zip(arrays, kinds, strict=True)
                block.call(function, [(b.pointer, width[kind]) for b, kind in pairs])
                return Rows.of(out)

            return result

        return Coordinates(called("integrate", "qvq"), called("rate", "vvv"))

    # -- functions of the robot ---------------------------------------------------------------

    def _row(self, k: Number, node: int) -> Number:
        """Row of an instant in the tables of paths."""
        return (k - self.words.number("table")) * self.words.number("nodes") + node

    def _drive(self, block: Block, k: Number, node: int, q: Buffer, v: Buffer) -> None:
        """Put driven joints where their paths have them."""
        if not self.plan.driven:
            return
        code, words, row = self.code, self.words, self._row(k, node)
        for x, path, places, count, width in (
            (q, "path_q", "driven_q", "ncd", block.nq),
            (v, "path_v", "driven_v", "nd", block.nv),
        ):
            number, table, index = words.number(count), words.array(path), words.indices(places)
            for r in code.each(block.count):
                for j in code.each(number):
                    x.put(r * width + index.get(j), table.get(row * number + j))

    def _dynamics(
        self, block: Block, k: Number, node: int, q: Buffer, v: Buffer
    ) -> tuple[Buffer, Buffer]:
        """Accelerations, and forces with those of driven joints."""
        words, row = self.words, self._row(k, node)
        extras = [block.extra(f"dynamics{n}", row) for n in range(self.plan.dynamics)]
        given: list[tuple[str, Number | int]] = [(q.pointer, block.nq), (v.pointer, block.nv)]
        a, forces = block.buffer("v"), self._tau
        results: list[tuple[str, Number | int]] = [(a.pointer, block.nv)]
        if self.plan.driven:
            wanted = words.array("path_a").at(row * words.number("nd"))
            if node == 0:
                self._free_tau = self._of_free(block)
            given += [(wanted, 0), (self._free_tau.pointer, words.number("nf"))]
            forces = block.buffer("v")
            results.append((forces.pointer, block.nv))
        else:
            given.append((forces.pointer, block.nv))
        block.call("dynamics", [*given, *extras, *results])
        return a, forces

    def _of_free(self, block: Block) -> Buffer:
        """Forces of the speeds that are not driven."""
        code, words = self.code, self.words
        number, index, out = words.number("nf"), words.indices("free_v"), block.buffer("v")
        for r in code.each(block.count):
            for j in code.each(number):
                out.put(r * number + j, self._tau.get(r * block.nv + index.get(j)))
        return out

    # -- the end of a step --------------------------------------------------------------------

    def _closed(self, block: Block, k: Number, node: int, q: Buffer, v: Buffer) -> Buffer:
        """Close loops that have drifted apart; by how much they are open before the last step."""
        code = self.code
        dq, dv, gaps = block.buffer("v"), block.buffer("v"), block.buffer("1")
        moved = q if self.plan.flat else block.buffer("q")
        extras = [
            block.extra(f"corrections{n}", self._row(k, node)) for n in range(self.plan.corrections)
        ]
        given: list[tuple[str, Number | int]] = [(q.pointer, block.nq), (v.pointer, block.nv)]
        results: list[tuple[str, Number | int]] = [
            (dq.pointer, block.nv), (dv.pointer, block.nv), (gaps.pointer, 1),
        ]  # fmt: skip
        if self.plan.stabilised:
            block.call("corrections", [*given, *extras, *results])
            return gaps
        moving = code.variable(1)
        for n in code.each(NEWTON + 1):
            with code.when(moving.value.equals(1)):
                block.call("corrections", [*given, *extras, *results])
                moving.value = 0
                with code.when(n < NEWTON):
                    if not self.plan.flat:
                        self._moved(block, q, dq, moved)
                    self._correct(block, gaps, (q, dq, moved), moving)
        # the last corrections are there already: of positions they are within rounding
        (Rows.of(v) + Rows.of(dv)).keep(v, block.size("v"))
        if self.plan.flat:
            (Rows.of(q) + Rows.of(dq)).keep(q, block.size("q"))
        else:
            self._moved(block, q, dq, moved)
            block.copy(moved, q, "q")
        return gaps

    def _moved(self, block: Block, q: Buffer, dq: Buffer, moved: Buffer) -> None:
        pointers = [(q.pointer, block.nq), (dq.pointer, block.nv), (moved.pointer, block.nq)]
        block.call("integrate", pointers)  # type: ignore[arg-type]

    def _correct(
        self, block: Block, gaps: Buffer, arrays: tuple[Buffer, Buffer, Buffer], moving: Variable
    ) -> None:
        """Move the robots whose loops are open."""
        code, (q, dq, moved) = self.code, arrays
        corrected = Rows.of(q) + Rows.of(dq) if self.plan.flat else Rows.of(moved)
        for r in code.each(block.count):
            with code.when(gaps.get(r) > DRIFT):
                moving.value = 1
                for j in code.each(block.nq):
                    at = r * block.nq + j
                    q.put(at, corrected.at(at))

    def _carry_on(
        self,
        block: Block,
        k: Number,
        new: tuple[Buffer, Buffer],
        gaps: Buffer | None,
        going: Variable,
    ) -> None:
        """The new state is the state of the robots that are in a motion still."""
        code = self.code
        total, open_loops = code.variable(0.0), code.variable(0)
        for x, kind in zip(new, "qv", strict=True):
            for i in code.each(block.size(kind)):
                total.add(x.get(i) * x.get(i))
        if gaps is not None:
            for r in code.each(block.count):
                open_loops.add(code.choose(gaps.get(r) < self._apart, code.integer(0), 1))
        fine = (total.value < DIVERGED) & open_loops.value.equals(0)
        with code.when(fine):
            for name, x in zip("qv", new, strict=True):
                block.copy(x, block.state(name, name), name)
        with code.when(~fine):
            going.value = 0
            for r in code.each(block.count):
                self._leave(block, k, r, new, gaps)

    @property
    def _apart(self) -> float:
        """Gaps with which no motion goes on."""
        return OPEN if self.plan.stabilised else APART

    def _leave(
        self, block: Block, k: Number, r: Number, new: tuple[Buffer, Buffer], gaps: Buffer | None
    ) -> None:
        """Carry a robot on if its own state is fine; else it stays where it was."""
        code, words = self.code, self.words
        fine = self._small(new[0], r, block.nq) & self._small(new[1], r, block.nv)
        if gaps is not None:
            fine = fine & (gaps.get(r) < self._apart)
        words.indices("reached").put(k + 1, block.first + r)
        with code.when(fine):
            for name, source, width in (("q", new[0], block.nq), ("v", new[1], block.nv)):
                target = words.array(name).part((block.first + r) * width)
                for j in code.each(width):
                    target.put(j, source.get(r * width + j))
        with code.when(~fine):
            words.indices("stuck").put(1, block.first + r)

    def _small(self, x: Buffer, r: Number, width: Number) -> Number:
        """Whether the numbers of a robot are numbers, and not too large."""
        total = self.code.variable(0.0)
        for j in self.code.each(width):
            value = x.get(r * width + j)
            total.value = total.value + value * value
        return total.value < DIVERGED
