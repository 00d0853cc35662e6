"""What a step is made of, for a block of robots: their state in memory and calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.rows import Buffer, Rows, call_rows
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.builder.words import Words

__all__ = ["Block", "Given"]

#: Address of each input and output of a function, and numbers from robot to robot.
Given = list[tuple[str, Number | int]]


class Block:
    """A block of robots while their step is written.

    Parameters
    ----------
    code : Code
    table : Words
    room : Buffer
        Memory to work in, for numbers of double precision.
    first, count : Number
        The first robot, and how many there are.
    real : {"double", "float"}
        Numbers of states, forces, loads and samples.
    """

    def __init__(
        self, code: Code, table: Words, room: Buffer, first: Number, count: Number, real: str
    ) -> None:
        self.code, self.table, self.first, self.count = code, table, first, count
        self.real = real
        self._room, self._most = room, table.number("block")
        self.nq, self.nv = table.number("nq"), table.number("nv")
        #: Buffers that were handed out, by how many numbers of a robot they hold.
        self.taken = {"q": 0, "v": 0, "1": 0}

    def buffer(self, kind: str, real: str | None = None) -> Buffer:
        """Room for positions ``"q"``, for speeds ``"v"``, or for a number of each robot ``"1"``.

        ``real``: the precision of the numbers, where that is not the precision of states.
        """
        each = self.nq * self.taken["q"] + self.nv * self.taken["v"] + self.taken["1"]
        self.taken[kind] += 1
        return Buffer(self.code, self._room.at(self._most * each), real or self.real)

    def doubled(self, source: Buffer, kind: str) -> Buffer:
        """An array in double precision: a copy, if it is not."""
        if source.kind == "double":
            return source
        copied = self.buffer(kind, "double")
        self.copy(source, copied, kind)
        return copied

    def width(self, kind: str) -> Number | int:
        """Numbers of a robot: positions, speeds, one, or the state of its controller ``"s"``."""
        if kind == "s":
            return self.table.number("state_size")
        return {"q": self.nq, "v": self.nv}.get(kind, 1)

    def size(self, kind: str) -> Number:
        """How many numbers such an array holds."""
        return self.count * self.width(kind)

    def state(self, name: str, kind: str, real: str | None = None) -> Buffer:
        """An array over all robots, at the first of the block."""
        return self.table.array(name, real or self.real).part(self.first * self.width(kind))

    def path(self, kind: str) -> Buffer:
        """Positions ``"q"``, velocities ``"v"`` or accelerations ``"a"`` of driven joints."""
        return self.table.array(f"path_{kind}", self.real)

    def kept(self, rows: Rows, kind: str) -> Buffer:
        """An expression in memory."""
        if rows.buffer is None:
            rows.keep(self.buffer(kind), self.size(kind))
        assert rows.buffer is not None
        return rows.buffer

    def copy(self, source: Buffer, target: Buffer, kind: str) -> None:
        """Copy an array."""
        Rows.of(source).keep(target, self.size(kind))

    def extra(self, name: str, row: Number, real: str | None = None) -> tuple[str, Number]:
        """Address of an input from a table, and from robot to robot."""
        step, width = self.table.number(f"{name}_step"), self.table.number(f"{name}_row")
        values = self.table.array(name, real or self.real)
        return values.at(row * step + self.first * width), width

    def addresses(self, arrays: Sequence[Buffer], kinds: str) -> Given:
        """Of arrays, as inputs or outputs of a function."""
        pairs = zip(arrays, kinds, strict=True)
        return [(array.pointer, self.width(kind)) for array, kind in pairs]

    def call(self, function: str, given: Given) -> None:
        """Call a function of rows."""
        call_rows(self.code, self.table.pointer(function), self.count, given)
