"""The machine code of a motion: many steps of many robots.

The program is written by running `step` once with `BlockOperations`. It does not depend on the
robot: sizes and the addresses of the robot's functions are arguments in a table, so that robots of
the same `StepVariant` share a program.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import LoadedFunction
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.rows import Buffer, Rows
from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.codegen.llvm.target.once import Memo
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.step.machine_code.operations import (
    Block,
    BlockOperations,
    Given,
    Seconds,
    StepVariant,
)
from robodyn.simulation.step.operations.step import (
    DIVERGED,
    Duration,
    Instant,
    instants_of,
    step,
    with_end,
)


class _Writer:
    """Writes the program of an integrator: ``run(begin, end, table, unused)`` of some robots."""

    def __init__(self, integrator: Integrator, variant: StepVariant) -> None:
        self.integrator, self.variant = integrator, variant
        self.code = code = Code("@run(i64 %begin, i64 %end, ptr %table, ptr %unused)")
        self.table = Words(code, "%table", variant.arguments)
        self.instants = with_end(instants_of(integrator))
        self.taken = {"q": 0, "v": 0, "1": 0}

    def ir(self) -> str:
        """Write the loop over blocks of robots."""
        code, table = self.code, self.table
        begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
        most = table.number("block")
        room = self._allocated()
        there = code.put(f"icmp ne ptr {room.pointer}, null", "i1")
        with code.when(~there):  # no memory: Python does the first step
            for r in code.each(end, start=begin):
                table.indices("reached").put(table.number("first") + 1, r)
                table.indices("stuck").put(1, r)
        with code.when(there):
            for b in code.each((end - begin + most - 1) / most):
                first = begin + b * most
                count = code.choose(end - first < most, end - first, most)
                block = Block(code, table, room, first, count, self.variant.real)
                self._motion(block)
                self.taken = block.taken
        code.do(f"call void {table.pointer('free')}(ptr {room.pointer})")
        return code.ir()

    def _allocated(self) -> Buffer:
        size, allocate = self.table.number("room") * 8, self.table.pointer("allocate")
        return Buffer(self.code, self.code.call(allocate, "ptr", size).name)

    # -- one block ----------------------------------------------------------------------------

    def _motion(self, block: Block) -> None:
        """Write all steps of a block, up to one that cannot be done here."""
        code, table = self.code, self.table
        last = table.number("last")
        going = code.variable(1)
        for k in code.each(last + table.number("final"), start=table.number("first")):
            with code.when(going.value.equals(1)):
                q, v = block.state("q", "q"), block.state("v", "v")
                tau = self._forces(block, k, q, v)
                operations = BlockOperations(block, self.variant, self.instants, k)
                row = operations.row(Instant(0.0))
                a, forces = operations.dynamics(Rows.of(q), Rows.of(v), tau, row)
                self._record(block, k, q, v, a, forces)
                with code.when(k < last):
                    self._step(block, k, operations, (q, v, a), going)

    def _forces(self, block: Block, k: Number, q: Buffer, v: Buffer) -> Buffer:
        """Write the forces of the controller at an instant."""
        tau = block.state("tau", "v")
        if self.variant.control >= 0:
            row = k - self.table.number("table")
            n = self.variant.control
            extras = [block.extra(f"control{k}", row, "double") for k in range(n)]
            state = block.addresses((block.doubled(q, "q"), block.doubled(v, "v")), "qv")
            self._control(block, tau, [*state, *extras])
        if self.variant.cut:
            self._cut(block, tau)
        return tau

    def _control(self, block: Block, tau: Buffer, given: Given) -> None:
        """Write the update of the controller from the state, the time and signals."""
        applied = block.state("applied", "v", "double")
        after, before = (
            block.state(f"controller_state{which}", "s", "double") for which in ("", "_before")
        )
        block.copy(tau, applied, "v")
        block.copy(after, before, "s")
        found = tau if tau.kind == "double" else block.buffer("v", "double")
        others = [*block.addresses([applied], "v"), *given[3:], *block.addresses([before], "s")]
        results = block.addresses((found, after), "vs")
        block.call("control", [*given[:3], *others, *results])
        if found is not tau:
            block.copy(found, tau, "v")

    def _cut(self, block: Block, tau: Buffer) -> None:
        """Write the cut of efforts to their limits."""
        code, effort = self.code, self.table.array("effort", block.real)
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
        """Write the copy of a sample, if one is recorded at this instant."""
        code, table = self.code, self.table
        rows = table.indices("rows")
        with code.when(rows.get(k) < rows.get(k + 1)):
            sample = rows.get(k) - table.number("before")
            row = sample * table.number("robots") + block.first
            for name, kind, width, source in (
                ("samples_q", "q", block.nq, q),
                ("samples_v", "v", block.nv, v),
                ("samples_a", "v", block.nv, a),
                ("samples_tau", "v", block.nv, forces),
            ):
                block.copy(source, table.array(name, block.real).part(row * width), kind)
            if self.variant.control >= 0:
                self._record_controller_state(block, row)

    def _record_controller_state(self, block: Block, row: Number) -> None:
        """Write the copy of the recorded elements of the controller's state, the first ones."""
        code, count, size = self.code, self.table.number("recorded"), block.width("s")
        state = block.state("controller_state", "s", "double")
        target = self.table.array("samples_controller_state").part(row * count)
        for r in code.each(block.count):
            for j in code.each(count):
                target.put(r * count + j, state.get(r * size + j))

    def _step(
        self,
        block: Block,
        k: Number,
        operations: BlockOperations,
        state: tuple[Buffer, Buffer, Buffer],
        going: Variable,
    ) -> None:
        """Write a step, and the update of the state unless the result is not valid."""
        code, times = self.code, self.table.array("times")
        q, v, a = (Rows.of(x) for x in state)
        start, end = times.get(k), times.get(k + 1)
        h = Duration(1.0, Seconds(code.put(f"fsub double {end.name}, {start.name}", "double")))
        tau = block.state("tau", "v")
        new = step(operations, self.integrator, Instant(0.0), q, v, tau, h, a)
        kept = block.kept(new[0], "q"), block.kept(new[1], "v")
        accept_step(block, self.variant, k, kept, operations.gaps, going)


_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, eq=False)
class LoadedProgram:
    """The loaded machine code of the steps of an integrator.

    instants: Fractions of a step at which loads are needed: 0 is the start, 1 the end.
    room: Numbers of arrays of positions, of speeds and of single numbers that each block needs.
    place: Index of each argument in the table.
    function: ``(begin, end, address of the table, unused)``.
    spare: Arguments that motions have left for others, by the sizes of their arrays.
    """

    instants: tuple[float, ...]
    room: tuple[int, ...]
    place: Mapping[str, int]
    function: LoadedFunction
    spare: dict[tuple[int, ...], list[Any]] = field(default_factory=dict)


_programs: Memo[LoadedProgram] = Memo()


def loaded_program(integrator: Integrator, variant: StepVariant) -> LoadedProgram:
    """The program of an integrator."""

    def make() -> LoadedProgram:
        writer = _Writer(integrator, variant)
        ir = writer.ir()
        place = {name: k for k, name in enumerate(variant.arguments)}
        function = LoadedFunction(ir, "run", "a step", _RUN)
        room = tuple(writer.taken[kind] for kind in "qv1")
        return LoadedProgram(writer.instants, room, place, function)

    return _programs.get((integrator, variant), make)


def accept_step(
    block: Block,
    variant: StepVariant,
    k: Number,
    new: tuple[Buffer, Buffer],
    gaps: Buffer | None,
    going: Variable,
) -> None:
    """Accept the results of step ``k``, or end the motion of the block.

    A robot whose result is NaN, too large, or leaves loops open keeps its state, and is marked as
    stuck. ``going`` becomes zero then.
    """
    code = block.code
    total, open_loops = code.variable(0.0), code.variable(0)
    for x, kind in zip(new, "qv", strict=True):
        for i in code.each(block.size(kind)):
            total.add(_square(x, i))
    if gaps is not None:
        for r in code.each(block.count):
            open_loops.add(code.choose(gaps.get(r) < variant.apart, code.integer(0), 1))
    fine = (total.value < DIVERGED) & open_loops.value.equals(0)
    with code.when(fine):
        for name, x in zip("qv", new, strict=True):
            block.copy(x, block.state(name, name), name)
    with code.when(~fine):
        going.value = 0
        for r in code.each(block.count):
            _accept_robot(block, variant, k, r, new, gaps)


def _accept_robot(
    block: Block,
    variant: StepVariant,
    k: Number,
    r: Number,
    new: tuple[Buffer, Buffer],
    gaps: Buffer | None,
) -> None:
    """Update the state of a robot if its new state is valid."""
    code, table = block.code, block.table
    fine = _small(new[0], r, block.nq) & _small(new[1], r, block.nv)
    if gaps is not None:
        fine = fine & (gaps.get(r) < variant.apart)
    table.indices("reached").put(k + 1, block.first + r)
    with code.when(fine):
        for name, source, width in (("q", new[0], block.nq), ("v", new[1], block.nv)):
            target = table.array(name, block.real).part((block.first + r) * width)
            for j in code.each(width):
                target.put(j, source.get(r * width + j))
    with code.when(~fine):
        table.indices("stuck").put(1, block.first + r)


def _small(x: Buffer, r: Number, width: Number) -> Number:
    """Whether the elements of a robot's state are not NaN, and not too large."""
    total = x.code.variable(0.0)
    for j in x.code.each(width):
        total.value = total.value + _square(x, r * width + j)
    return total.value < DIVERGED


def _square(x: Buffer, i: Number) -> Number:
    """The square of a number, in double precision."""
    value = x.code.real(x.get(i), "double")
    return value * value
