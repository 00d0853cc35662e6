"""The machine code of a motion: many steps of many robots, the functions of a robot being given.

The program is written by running the text of an integrator once over symbols. It knows no robot:
sizes and the addresses of the robot's functions are words of a table, so that one program serves
all robots that need the same parts of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robodyn.codegen.llvm.builder.code import Code, Number, Variable
from robodyn.codegen.llvm.builder.rows import Buffer, Rows
from robodyn.simulation.integrators.method import Coordinates, Integrator
from robodyn.simulation.step.machine_code.acceptance import carry_on
from robodyn.simulation.step.machine_code.argument_table import Words
from robodyn.simulation.step.machine_code.block import Block
from robodyn.simulation.step.machine_code.loop_closing import Given, closed
from robodyn.simulation.step.machine_code.symbols import Duration, Instant
from robodyn.simulation.step.machine_code.variant import Plan

__all__ = ["StepProgram", "step_program"]


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
        there = code.put(f"icmp ne ptr {room.pointer}, null", "i1")
        with code.when(~there):  # Python does the first step, and asks again
            for r in code.each(end, start=begin):
                words.indices("reached").put(words.number("first") + 1, r)
                words.indices("stuck").put(1, r)
        with code.when(there):
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
            self._control(block, tau, [(q.pointer, block.nq), (v.pointer, block.nv), *extras])
        if self.plan.cut:
            self._cut(block, tau)
        self._tau = tau
        return self._dynamics(block, k, 0, q, v)

    def _control(self, block: Block, tau: Buffer, given: Given) -> None:
        """Update the controller: given are the state of the robot, the time and signals."""
        applied, before = block.state("applied", "v"), block.state("controller_state_before", "s")
        after, size = block.state("controller_state", "s"), block.width("s")
        block.copy(tau, applied, "v")
        block.copy(after, before, "s")
        others: Given = [(applied.pointer, block.nv), *given[3:], (before.pointer, size)]
        results: Given = [(tau.pointer, block.nv), (after.pointer, size)]
        block.call("control", [*given[:3], *others, *results])

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
            if self.plan.control >= 0:
                self._record_controller_state(block, row)

    def _record_controller_state(self, block: Block, row: Number) -> None:
        """Copy what is recorded of the state of the controller, the first numbers of it."""
        code, count, size = self.code, self.words.number("recorded"), block.width("s")
        state = block.state("controller_state", "s")
        target = self.words.array("samples_controller_state").part(row * count)
        for r in code.each(block.count):
            for j in code.each(count):
                target.put(r * count + j, state.get(r * size + j))

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
        gaps = None
        if self.plan.closed:
            row, count = self._row(k, node), self.plan.corrections
            extras: Given = [block.extra(f"corrections{n}", row) for n in range(count)]
            gaps = closed(block, self.plan, extras, new_q, new_v)
        carry_on(block, self.plan, k, (new_q, new_v), gaps, going)

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
