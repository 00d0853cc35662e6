"""The functions of a program in pieces: of one shape, of all angles, of columns of rows.

They are the same for one state and for a vector of states. They are given where the rows of all
arrays are, one pointer a state, and the memory between pieces; and where their words and constants
are, if these are not their own.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.kernels.functions import function
from robodyn.codegen.llvm.kernels.guarded_sincos import GuardedSincos
from robodyn.codegen.llvm.kernels.pieces import CONSTANT, LOCAL, STORE, WORK, Piece
from robodyn.codegen.llvm.kernels.sincos import constant, vector_type
from robodyn.codegen.llvm.kernels.sums import FMA
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import ADD, COS, DIV, MUL, SIN

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
        self.dtype, self.lanes, self.type = dtype, lanes, vector_type(dtype, lanes)

    def word(self, k: Index) -> Number:
        """One of the words, as it is known when the function is called."""
        return self.code.put(f"sext i32 {self.code.load('%words', k, 'i32')} to i64", "i64")

    def splat(self, x: object) -> str:
        """A number in all lanes."""
        if self.lanes == 1:
            return str(x)
        t, mask = self.type, f"<{self.lanes} x i32> zeroinitializer"
        one = self.code.name(f"insertelement {t} poison, {self.dtype} {x}, i32 0")
        return self.code.name(f"shufflevector {t} {one}, {t} poison, {mask}")

    def rows(self, place: Index) -> str:
        """The row of an array, or the address of the pointers to its rows."""
        if self.lanes == 1:
            return self.code.load("%rows", place, "ptr").name
        return self.code.at("%rows", place * self.lanes, "ptr")

    def read(self, rows: str, index: Index) -> str:
        """A number of the rows of an array."""
        if self.lanes == 1:
            return self.code.load(rows, index, self.dtype).name
        return self.code.name(f"call {self.type} @read_column(ptr {rows}, i64 {index})")

    def write(self, value: str, rows: str, index: Index) -> None:
        """Write a number to the rows of an array."""
        if self.lanes == 1:
            self.code.do(f"store {self.dtype} {value}, ptr {self.code.at(rows, index, self.dtype)}")
        else:
            self.code.do(f"call void @write_column({self.type} {value}, ptr {rows}, i64 {index})")


class PieceFunction:
    """A piece, or all pieces of its shape.

    name: Of the function.
    lanes: States in a vector.
    shared: Words and constants are those that the function is called with, not those of the piece.
    like_packs: Of one state: no result is a negative zero.
    functions: The function, and those that it calls.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        dtype: str,
        lanes: int,
        piece: Piece,
        shared: bool,
        like_packs: bool = False,
    ) -> None:
        self._memory, self._like_packs = _Memory(name, target, dtype, lanes), like_packs
        self._code, self._type = self._memory.code, self._memory.type
        self._sincos = GuardedSincos(self._code, dtype, target.fma)
        self._piece, self._shared = piece, shared
        self._values: list[str] = []
        self._read: dict[int, str] = {}
        self._rows: dict[int, str] = {}
        self._angles: dict[int, tuple[str, str]] = {}
        for op, *operands in piece.shape.steps:
            if op == STORE:
                self._store(*operands)
            else:
                self._values.append(self._operation(op, operands))
        self.functions = [self._code, *self._sincos.slow.values()]

    def _operation(self, op: int, operands: list[int]) -> str:
        code, t = self._code, self._type
        if op == ADD:
            verb, b = ("fsub", operands[1] ^ 1) if operands[1] & 1 else ("fadd", operands[1])
            return code.name(f"{verb} {t} {self._value(operands[0])}, {self._value(b)}")
        given = [self._value(x) for x in operands]
        if op in (MUL, DIV):
            return code.name(f"{'fmul' if op == MUL else 'fdiv'} {t} {given[0]}, {given[1]}")
        if op == FMA:
            return code.intrinsic("fma", t, *given)
        if op not in (SIN, COS):
            return function(code, op, self._memory.dtype, self._memory.lanes, given)
        if operands[0] not in self._angles:
            self._angles[operands[0]] = self._sincos.write(given[0], self._memory.lanes)
        return self._angles[operands[0]][0 if op == SIN else 1]

    def _value(self, operand: int) -> str:
        if operand & 1:
            return self._code.name(f"fneg {self._type} {self._value(operand ^ 1)}")
        index, kind = operand >> 3, operand & 6
        if kind == LOCAL:
            return self._values[index]
        if operand not in self._read:
            self._read[operand] = self._constant(index) if kind == CONSTANT else self._word(index)
        return self._read[operand]

    def _constant(self, k: int) -> str:
        memory = self._memory
        if not self._shared:
            return constant(self._piece.constants[k], memory.dtype, memory.lanes)
        return memory.splat(self._code.load("%numbers", k, memory.dtype))

    def _index(self, k: int) -> Index:
        return self._memory.word(k) if self._shared else self._piece.words[k]

    def _word(self, k: int) -> str:
        place = self._piece.shape.places[k]
        if place == WORK:
            return self._code.load("%from", self._index(k), self._type).name
        return self._memory.read(self._array(place), self._index(k))

    def _store(self, operand: int, k: int) -> None:
        place, value = self._piece.shape.places[k], self._value(operand)
        if place == WORK:
            at = self._code.at("%to", self._index(k), self._type)
            self._code.do(f"store {self._type} {value}, ptr {at}")
        else:
            if self._like_packs:
                value = self._code.name(f"fadd {self._type} {value}, 0.0")
            self._memory.write(value, self._array(place), self._index(k))

    def _array(self, place: int) -> str:
        if place not in self._rows:
            self._rows[place] = self._memory.rows(place)
        return self._rows[place]


class AnglesFunction:
    """A loop over the angles that are known from the start.

    Words are array and index of each, numbers all factors and then all offsets. Of one state as
    many are evaluated together as fit into a vector.

    name: Of the function.
    lanes: States in a vector.
    count: How many there are; of one state a multiple of what fits into a vector.
    functions: The function, and those that it calls.
    """

    def __init__(self, name: str, target: Target, dtype: str, lanes: int, count: int) -> None:
        self._memory = memory = _Memory(name, target, dtype, lanes)
        self._code = code = memory.code
        sincos = GuardedSincos(code, dtype, target.fma)
        self._width = target.lanes(dtype) if lanes == 1 else 1
        wide = max(self._width, lanes)
        kind = vector_type(dtype, wide)
        for group in code.each(count // self._width):
            first = group * self._width
            x = self._angles(first, kind)
            scaled = code.name(f"fmul {kind} {x}, {self._numbers(first)}")
            angle = code.name(f"fadd {kind} {scaled}, {self._numbers(first + count)}")
            for value, begin in zip(sincos.write(angle, wide), (0, count), strict=True):
                at = code.at("%to", first + begin, memory.type)
                code.do(f"store {kind} {value}, ptr {at}, align {self._align}")
        self.functions = [code, *sincos.slow.values()]

    @property
    def _align(self) -> int:
        return 8 if self._memory.dtype == "double" else 4

    def _angles(self, first: Number, kind: str) -> str:
        """Inputs, from the first of a vector on."""
        found = []
        for k in range(self._width):
            word = (first + k) * 2
            rows = self._memory.rows(self._memory.word(word))
            found.append(self._memory.read(rows, self._memory.word(word + 1)))
        if self._width == 1:
            return found[0]
        x = "poison"
        for k, one in enumerate(found):
            x = self._code.name(f"insertelement {kind} {x}, {self._memory.dtype} {one}, i32 {k}")
        return x

    def _numbers(self, first: Number) -> str:
        """Factors or offsets of a vector."""
        dtype = self._memory.dtype
        if self._width == 1:
            return self._memory.splat(self._code.load("%numbers", first, dtype))
        at, kind = self._code.at("%numbers", first, dtype), vector_type(dtype, self._width)
        return self._code.name(f"load {kind}, ptr {at}, align {self._align}")


def column_functions(dtype: str, lanes: int) -> list[Code]:
    """``read_column(rows, index)`` and ``write_column(value, rows, index)``, of all lanes."""
    t, index = vector_type(dtype, lanes), "ptr %rows, i64 %index"
    read = Code(f"@read_column({index})", f"internal {t}", "noinline nounwind")
    value = "poison"
    for k, at in enumerate(_places(read, dtype, lanes)):
        x = read.name(f"load {dtype}, ptr {at}")
        value = read.name(f"insertelement {t} {value}, {dtype} {x}, i32 {k}")
    read.give(Number(read, value, t))
    write = Code(f"@write_column({t} %value, {index})", "internal void", "noinline nounwind")
    for k, at in enumerate(_places(write, dtype, lanes)):
        x = write.name(f"extractelement {t} %value, i32 {k}")
        write.do(f"store {dtype} {x}, ptr {at}")
    return [read, write]


def _places(code: Code, dtype: str, lanes: int) -> list[str]:
    index = code.argument("index", "i64")
    return [code.at(code.load("%rows", k, "ptr"), index, dtype) for k in range(lanes)]
