"""A block of robots whose step is written as machine code: arrays, and calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.rows import Buffer, Rows, call_rows
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.builder.words import Words

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
