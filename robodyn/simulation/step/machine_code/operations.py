"""The operations of a step that write machine code, for arrays of a block of robots.

Running `step` with them writes the program of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from robodyn.codegen.llvm.builder.rows import Buffer, Rows
from robodyn.codegen.llvm.builder.values import Number
from robodyn.simulation.integrators.method import FLAT, Coordinates
from robodyn.simulation.step.machine_code.block import Block, Given
from robodyn.simulation.step.machine_code.variant import StepVariant
from robodyn.simulation.step.operations.step import CORRECTIONS, Correct, Instant, close_loops
from robodyn.tolerances import LOOP_DRIFT

#: Corrections of position and velocity, and gaps.
Corrections = tuple[Rows, Rows, Buffer]


class Seconds:
    """A duration by which arrays are multiplied, rounded as in numpy."""

    def __init__(self, number: Number) -> None:
        self._number = number

    def __mul__(self, other: Rows | float) -> Any:
        if isinstance(other, Rows):
            return other.scaled(self._number)
        text = f"fmul double {self._number.name}, {other:.17e}"
        return Seconds(self._number.code.put(text, "double"))


class BlockOperations:
    """Operations of one step of a block of robots.

    instants: Fractions of the step at which tables of loads have rows.
    k: Index of the step.
    gaps: Gaps of loops at their latest correction; ``None`` for a tree.
    """

    def __init__(
        self, block: Block, variant: StepVariant, instants: Sequence[float], k: Number
    ) -> None:
        self._block, self._variant, self._instants, self._k = block, variant, instants, k
        self._free: Buffer | None = None
        self._found: tuple[Buffer, Buffer, Buffer] | None = None

    @property
    def gaps(self) -> Buffer | None:
        """Gaps of loops at their latest correction."""
        return self._found[2] if self._found else None

    @cached_property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""
        if self._variant.flat:
            return FLAT
        return Coordinates(self._called("integrate", "qvq"), self._called("rate", "vvv"))

    def _called(self, function: str, kinds: str) -> Callable[[Rows, Rows], Rows]:
        """A function of the robot of two arrays."""
        block = self._block

        def result(x: Rows, y: Rows) -> Rows:
            out = block.buffer(kinds[2])
            arrays = block.kept(x, kinds[0]), block.kept(y, kinds[1]), out
            block.call(function, block.addresses(arrays, kinds))
            return Rows.of(out)

        return result

    # -- loads --------------------------------------------------------------------------------

    def row(self, t: Instant) -> Number:
        """Index of the row of an instant in the tables of loads."""
        table = self._block.table
        first = (self._k - table.number("table")) * table.number("instants")
        return first + self._instants.index(t.part)

    def drive(self, t: Instant, q: Rows, v: Rows) -> Number:
        """Set driven joints to their paths; return the row of the instant in tables of loads."""
        block, code, row = self._block, self._block.code, self.row(t)
        state = block.kept(q, "q"), block.kept(v, "v")
        if self._variant.driven:
            for x, kind, count in zip(state, "qv", ("driven_nq", "driven_nv"), strict=True):
                number, path = block.table.number(count), block.path(kind)
                index, width = block.table.indices(f"driven_{kind}"), block.width(kind)
                for r in code.each(block.count):
                    for j in code.each(number):
                        x.put(r * width + index.get(j), path.get(row * number + j))
        return row

    def accelerations(self, t: Instant, q: Rows, v: Rows, tau: Buffer, driving: Number) -> Rows:
        """Accelerations of all speeds."""
        return Rows.of(self.dynamics(q, v, tau, driving)[0])

    def dynamics(self, q: Rows, v: Rows, tau: Buffer, row: Number) -> tuple[Buffer, Buffer]:
        """Accelerations, and forces, with those that drive joints."""
        block, variant = self._block, self._variant
        extras = [block.extra(f"dynamics{n}", row) for n in range(variant.dynamics)]
        given = block.addresses((block.kept(q, "q"), block.kept(v, "v")), "qv")
        a, forces = block.buffer("v"), tau
        results: Given = [(a.pointer, block.nv)]
        if variant.driven:
            count, nf = block.table.number("driven_nv"), block.table.number("free_nv")
            if self._free is None:
                self._free = self._of_free(tau, nf)
            wanted = block.path("a").at(row * count)
            given += [(wanted, 0), (self._free.pointer, nf)]
            forces = block.buffer("v")
            results.append((forces.pointer, block.nv))
        else:
            given.append((forces.pointer, block.nv))
        block.call("dynamics", [*given, *extras, *results])
        return a, forces

    def _of_free(self, tau: Buffer, number: Number) -> Buffer:
        """Forces of the speeds that are not driven."""
        block, code = self._block, self._block.code
        index, out = block.table.indices("free_v"), block.buffer("v")
        for r in code.each(block.count):
            for j in code.each(number):
                out.put(r * number + j, tau.get(r * block.nv + index.get(j)))
        return out

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: Instant, q: Rows, v: Rows) -> tuple[Rows, Rows]:
        """The state with its loops closed; loops with stabilisation are only checked."""
        if not self._variant.closed:
            return q, v
        if self._variant.stabilised:
            self.corrections(t, q, v)
            return q, v
        return close_loops(self, t, q, v)

    def corrections(self, t: Instant, q: Rows, v: Rows) -> Corrections:
        """One step of Newton's method; it uses the same memory in each repetition."""
        block, row = self._block, self.row(t)
        if self._found is None:
            self._found = block.buffer("v"), block.buffer("v"), block.buffer("1")
        extras = [block.extra(f"corrections{n}", row) for n in range(self._variant.corrections)]
        state = block.addresses((block.kept(q, "q"), block.kept(v, "v")), "qv")
        block.call("corrections", [*state, *extras, *block.addresses(self._found, "vv1")])
        dq, dv, gaps = self._found
        return Rows.of(dq), Rows.of(dv), gaps

    def where_open(self, gap: Buffer, moved: Rows, q: Rows) -> Rows:
        """Move the robots of the block whose loops are open, in the memory of ``q``."""
        block, code, own = self._block, self._block.code, self._block.kept(q, "q")
        for r in code.each(block.count):
            with code.when(gap.get(r) > LOOP_DRIFT):
                for j in code.each(block.nq):
                    at = r * block.nq + j
                    own.put(at, moved.at(at))
        return q

    def while_open(self, correct: Correct, q: Rows, found: Corrections) -> tuple[Rows, Corrections]:
        """Repeat while loops of a robot of the block are open; results stay in the same memory."""
        code, gaps = self._block.code, found[2]
        going = code.variable(1)
        for _ in code.each(CORRECTIONS):
            with code.when(going.value.equals(1)):
                going.value = 0
                for r in code.each(self._block.count):
                    with code.when(gaps.get(r) > LOOP_DRIFT):
                        going.value = 1
                with code.when(going.value.equals(1)):
                    correct(q, found)
        return q, found
