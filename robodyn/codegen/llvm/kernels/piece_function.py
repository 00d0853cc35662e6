"""The functions of a program in pieces: of one shape, of all angles, of columns of rows.

They are the same for one state and for a vector of states. They are given where the rows of all
arrays are, one pointer a state, and the memory between pieces; and where their words and constants
are, if these are not their own.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.kernels.kernel_body import write_operation
from robodyn.codegen.llvm.kernels.pieces import CONSTANT, LOCAL, STORE, WORK, Piece
from robodyn.codegen.llvm.kernels.sincos import sincos
from robodyn.codegen.llvm.kernels.vectors import Vectors, vector_type
from robodyn.codegen.llvm.target.target import Target

#: What the functions are given; they read by ``%from`` where they write nothing by ``%to``.
_ARGUMENTS = ", ".join(f"ptr noalias %{x}" for x in ("rows", "from", "to", "words", "numbers"))

#: An index that is known now, or when the function is called.
Index = int | Number


class _Memory:
    """Access of a function to arrays, words and constants in memory.

    name: Of the function.
    lanes: States in a vector.
    """

    def __init__(self, name: str, target: Target, dtype: str, lanes: int) -> None:
        attributes = f"noinline {target.attributes}"
        self.code = Code(f"@{name}({_ARGUMENTS})", "internal void", attributes)
        self.w = Vectors(self.code, dtype, lanes, target.fma)
        if lanes > 1:
            for function in _column_functions(dtype, lanes):
                self.code.need(function)

    def word(self, k: Index) -> Number:
        """One of the words, as it is known when the function is called."""
        return self.code.put(f"sext i32 {self.code.load('%words', k, 'i32')} to i64", "i64")

    def rows(self, place: Index) -> str:
        """The row of an array, or the address of the pointers to its rows."""
        if self.w.lanes == 1:
            return self.code.load("%rows", place, "ptr").name
        return self.code.at("%rows", place * self.w.lanes, "ptr")

    def read(self, rows: str, index: Index) -> str:
        """A number of the rows of an array."""
        if self.w.lanes == 1:
            return self.code.load(rows, index, self.w.dtype).name
        return self.code.name(f"call {self.w.type} @read_column(ptr {rows}, i64 {index})")

    def write(self, value: str, rows: str, index: Index) -> None:
        """Write a number to the rows of an array."""
        if self.w.lanes == 1:
            self.code.store(value, rows, index, self.w.dtype)
        else:
            self.code.do(f"call void @write_column({self.w.type} {value}, ptr {rows}, i64 {index})")


class PieceFunction:
    """A piece, or all pieces of its shape.

    name: Of the function.
    lanes: States in a vector.
    shared: Words and constants are those that the function is called with, not those of the piece.
    like_packs: Of one state: no result is a negative zero.
    code: The function.
    """

    def __init__(
        self, name: str, target: Target, dtype: str, lanes: int, piece: Piece, shared: bool,
        like_packs: bool = False,
    ) -> None:  # fmt: skip
        self._memory, self._like_packs = _Memory(name, target, dtype, lanes), like_packs
        self.code, self._w = self._memory.code, self._memory.w
        self._piece, self._shared = piece, shared
        self._values: list[str] = []
        self._read: dict[int, str] = {}
        self._rows: dict[int, str] = {}
        for op, *operands in piece.shape.steps:
            if op == STORE:
                self._store(*operands)
            else:
                self._values.append(write_operation(self._w, op, operands, self._value))

    def _value(self, operand: int) -> str:
        if operand & 1:
            return self._w.negative(self._value(operand ^ 1))
        index, kind = operand >> 3, operand & 6
        if kind == LOCAL:
            return self._values[index]
        if operand not in self._read:
            self._read[operand] = self._constant(index) if kind == CONSTANT else self._word(index)
        return self._read[operand]

    def _constant(self, k: int) -> str:
        if not self._shared:
            return self._w.constant(self._piece.constants[k])
        return self._w.splat(self.code.load("%numbers", k, self._w.dtype))

    def _index(self, k: int) -> Index:
        return self._memory.word(k) if self._shared else self._piece.words[k]

    def _word(self, k: int) -> str:
        place = self._piece.shape.places[k]
        if place == WORK:
            return self.code.load("%from", self._index(k), self._w.type).name
        return self._memory.read(self._array(place), self._index(k))

    def _store(self, operand: int, k: int) -> None:
        place, value = self._piece.shape.places[k], self._value(operand)
        if place == WORK:
            self.code.store(value, "%to", self._index(k), self._w.type)
        else:
            if self._like_packs:
                value = self._w.binary("fadd", value, "0.0")
            self._memory.write(value, self._array(place), self._index(k))

    def _array(self, place: int) -> str:
        if place not in self._rows:
            self._rows[place] = self._memory.rows(place)
        return self._rows[place]


def angles_function(name: str, target: Target, dtype: str, lanes: int, count: int) -> Code:
    """A loop over the angles that are known from the start.

    Words are array and index of each, numbers all factors and then all offsets. Of one state as
    many are evaluated together as fit into a vector.

    name: Of the function.
    lanes: States in a vector.
    count: How many there are; of one state a multiple of what fits into a vector.
    """
    memory = _Memory(name, target, dtype, lanes)
    code, w, width = memory.code, memory.w, target.lanes(dtype) if lanes == 1 else 1
    wide = Vectors(code, dtype, max(width, lanes), target.fma)

    def angles(first: Number) -> str:
        """Inputs, from the first of a vector on."""
        found = []
        for k in range(width):
            word = (first + k) * 2
            found.append(memory.read(memory.rows(memory.word(word)), memory.word(word + 1)))
        return found[0] if width == 1 else wide.joined(found)

    def numbers(first: Number) -> str:
        """Factors or offsets of a vector."""
        if width == 1:
            return w.splat(code.load("%numbers", first, dtype))
        at = code.at("%numbers", first, dtype)
        return code.name(f"load {wide.type}, ptr {at}, align {w.size}")

    for group in code.each(count // width):
        first = group * width
        scaled = wide.binary("fmul", angles(first), numbers(first))
        angle = wide.binary("fadd", scaled, numbers(first + count))
        for value, begin in zip(sincos(wide, angle), (0, count), strict=True):
            at = code.at("%to", first + begin, w.type)
            code.do(f"store {wide.type} {value}, ptr {at}, align {w.size}")
    return code


def _column_functions(dtype: str, lanes: int) -> list[Code]:
    """``read_column(rows, index)`` and ``write_column(value, rows, index)``, of all lanes."""
    t, index = vector_type(dtype, lanes), "ptr %rows, i64 %index"
    read = Code(f"@read_column({index})", f"internal {t}", "noinline nounwind")
    w, value = Vectors(read, dtype, lanes), "poison"
    for k, at in enumerate(_places(read, dtype, lanes)):
        value = w.with_lane(value, k, read.name(f"load {dtype}, ptr {at}"))
    read.give(Number(read, value, t))
    write = Code(f"@write_column({t} %value, {index})", "internal void", "noinline nounwind")
    w = Vectors(write, dtype, lanes)
    for k, at in enumerate(_places(write, dtype, lanes)):
        write.do(f"store {dtype} {w.lane('%value', k)}, ptr {at}")
    return [read, write]


def _places(code: Code, dtype: str, lanes: int) -> list[str]:
    index = code.argument("index", "i64")
    return [code.at(code.load("%rows", k, "ptr"), index, dtype) for k in range(lanes)]
