"""The operations of a step that write machine code, for arrays of a block of robots.

Running `step` with them writes the program of a step. A `Block` has the arrays and the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.rows import Buffer, Rows, call_rows
from robodyn.codegen.llvm.builder.values import Number
from robodyn.literals import Precision
from robodyn.simulation.integrators.method import FLAT, Coordinates
from robodyn.simulation.step.operations.step import CORRECTIONS, Correct, Instant, close_loops
from robodyn.tolerances import LOOP_APART, LOOP_DRIFT, LOOP_OPEN

#: Sizes; steps (from, to, whether the last instant is recorded, samples before those there is room
#: for); robots, and most of them in a block; numbers of a block's room; instants of a step, and the
#: step at which tables begin; driven coordinates and speeds, and free speeds; numbers of the state
#: of a controller, and those that are recorded.
NUMBERS = (
    "nq", "nv", "first", "last", "final", "before", "robots", "block", "room", "instants", "table",
    "driven_nq", "driven_nv", "free_nv", "state_size", "recorded",
)  # fmt: skip

#: Functions of the robot, and memory of Python.
FUNCTIONS = ("dynamics", "integrate", "rate", "corrections", "control", "allocate", "free")

#: Instants, and how many samples are recorded before each; the state, which is carried on, and
#: forces; samples; for each robot the step that it
#: has come to, and whether it cannot go on; where driven positions, velocities, accelerations
#: stand, tables of them, the free speeds; largest efforts; the state of the controller after its
#: latest sample and before it, and the forces that acted until then; samples of that state.
ARRAYS = (
    "times", "rows", "q", "v", "tau", "samples_q", "samples_v", "samples_a", "samples_tau",
    "reached", "stuck", "driven_q", "driven_v", "path_q", "path_v", "path_a", "free_v", "effort",
    "controller_state", "controller_state_before", "applied", "samples_controller_state",
)  # fmt: skip


def argument_names(dynamics: int, control: int, corrections: int) -> tuple[str, ...]:
    """Names of all arguments, for the numbers of further inputs of each function.

    Each further input has an address, a stride from one row of its table to the next, and one from
    one robot to the next.
    """
    extra = [f"dynamics{k}" for k in range(dynamics)]
    extra += [f"control{k}" for k in range(control)]
    extra += [f"corrections{k}" for k in range(corrections)]
    of_extra = [name for x in extra for name in (x, f"{x}_step", f"{x}_row")]
    return (*NUMBERS, *FUNCTIONS, *ARRAYS, *of_extra)


class StepVariant(NamedTuple):
    """Choices that determine the program.

    flat: All coordinates add.
    driven: Some joints follow paths.
    closed: There are loops, which are closed after every step.
    stabilised: Loops are stabilised by gains, and only checked after each step.
    dynamics, control, corrections: Inputs of the functions besides the state and forces;
        ``control`` is -1 without a controller that is machine code.
    cut: Efforts of the controller are cut to a limit.
    real {"double", "float"}: Numbers of states, forces, loads and samples. Times, and all that a
        controller computes with, are ``"double"`` anyway.
    """

    flat: bool
    driven: bool = False
    closed: bool = False
    stabilised: bool = False
    dynamics: int = 0
    control: int = -1
    corrections: int = 0
    cut: bool = False
    real: Precision = "double"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments in the table."""
        return argument_names(self.dynamics, max(self.control, 0), self.corrections)

    @property
    def apart(self) -> float:
        """Gap of loops [m, rad] beyond which no motion continues."""
        return LOOP_OPEN if self.stabilised else LOOP_APART


#: Address of each input and output of a function, and its stride from robot to robot.
Given = list[tuple[str, Number | int]]


class Block:
    """A block of robots while the code of their step is written.

    room: Workspace of double precision.
    first, count: Index of the first robot, and number of robots.
    real {"double", "float"}: Type of states, forces, loads and samples.
    """

    def __init__(
        self, code: Code, table: Words, room: Buffer, first: Number, count: Number, real: str
    ) -> None:
        self.code, self.table, self.first, self.count = code, table, first, count
        self.real = real
        self._room, self._most = room, table.number("block")
        self.nq, self.nv = table.number("nq"), table.number("nv")
        #: Number of buffers in use, by their elements for each robot.
        self.taken = {"q": 0, "v": 0, "1": 0}

    def buffer(self, kind: str, real: str | None = None) -> Buffer:
        """A buffer for positions ``"q"``, speeds ``"v"``, or one number for each robot ``"1"``.

        ``real``: the precision of its elements. Default: that of states.
        """
        each = self.nq * self.taken["q"] + self.nv * self.taken["v"] + self.taken["1"]
        self.taken[kind] += 1
        return Buffer(self.code, self._room.at(self._most * each), real or self.real)

    def doubled(self, source: Buffer, kind: str) -> Buffer:
        """An array in double precision; a copy, if the given one has another precision."""
        if source.kind == "double":
            return source
        copied = self.buffer(kind, "double")
        self.copy(source, copied, kind)
        return copied

    def width(self, kind: str) -> Number | int:
        """Elements for each robot: of q, v, one, or of the state of its controller ``"s"``."""
        if kind == "s":
            return self.table.number("state_size")
        return {"q": self.nq, "v": self.nv}.get(kind, 1)

    def size(self, kind: str) -> Number:
        """Elements for all robots of the block."""
        return self.count * self.width(kind)

    def state(self, name: str, kind: str, real: str | None = None) -> Buffer:
        """An argument with elements for all robots, from the first robot of the block on."""
        return self.table.array(name, real or self.real).part(self.first * self.width(kind))

    def path(self, kind: str) -> Buffer:
        """Positions ``"q"``, velocities ``"v"`` or accelerations ``"a"`` of driven joints."""
        return self.table.array(f"path_{kind}", self.real)

    def kept(self, rows: Rows, kind: str) -> Buffer:
        """Evaluate an expression into memory."""
        if rows.buffer is None:
            rows.keep(self.buffer(kind), self.size(kind))
        assert rows.buffer is not None
        return rows.buffer

    def copy(self, source: Buffer, target: Buffer, kind: str) -> None:
        """Copy an array."""
        Rows.of(source).keep(target, self.size(kind))

    def extra(self, name: str, row: Number, real: str | None = None) -> tuple[str, Number]:
        """Address of an input in a row of its table, and its stride from robot to robot."""
        step, width = self.table.number(f"{name}_step"), self.table.number(f"{name}_row")
        values = self.table.array(name, real or self.real)
        return values.at(row * step + self.first * width), width

    def addresses(self, arrays: Sequence[Buffer], kinds: str) -> Given:
        """Addresses and strides of arrays, as inputs or outputs of a function."""
        pairs = zip(arrays, kinds, strict=True)
        return [(array.pointer, self.width(kind)) for array, kind in pairs]

    def call(self, function: str, given: Given) -> None:
        """Call a function of rows."""
        call_rows(self.code, self.table.pointer(function), self.count, given)


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
