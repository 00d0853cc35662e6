"""Arrays of numbers, a row a state, as values of a program that is written by running Python once.

An expression such as ``v + h * a`` is written as one loop when its numbers are needed. Products and
sums are rounded one by one, in the order of the text, as numpy rounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number


class Buffer(NamedTuple):
    """Real numbers in memory, row after row.

    kind {"double", "float"}
    """

    code: Code
    pointer: str
    kind: str = "double"

    def at(self, i: Number | int) -> str:
        """Address of a number."""
        return self.code.at(self.pointer, i, self.kind)

    def part(self, i: Number | int) -> Buffer:
        """The numbers from one on."""
        return Buffer(self.code, self.at(i), self.kind)

    def get(self, i: Number | int) -> Number:
        """One number."""
        return self.code.load(self.pointer, i, self.kind)

    def put(self, i: Number | int, value: Number | float) -> None:
        """Change one; a number of another precision is rounded to that of the array."""
        if isinstance(value, Number):
            value = self.code.real(value, self.kind)
        self.code.store(value, self.pointer, i, self.kind)


class Rows:
    """An array that is in memory, or an expression over such arrays of the same shape.

    value: Writes what gives the number of an index.
    buffer, optional: Where the numbers are, if they are in memory.
    """

    def __init__(
        self, code: Code, value: Callable[[Number], Number], buffer: Buffer | None = None
    ) -> None:
        self._code, self._value, self.buffer = code, value, buffer

    @staticmethod
    def of(buffer: Buffer) -> Rows:
        """Numbers in memory."""
        return Rows(buffer.code, buffer.get, buffer)

    def at(self, i: Number) -> Number:
        """Write what gives one number."""
        return self._value(i)

    def keep(self, buffer: Buffer, size: Number) -> None:
        """Compute all numbers into memory, from which they are read from then on."""
        for i in self._code.each(size):
            buffer.put(i, self._value(i))
        self._value, self.buffer = buffer.get, buffer

    def __add__(self, other: Rows) -> Rows:
        return Rows(self._code, lambda i: _rounded("fadd", self.at(i), other.at(i)))

    def __sub__(self, other: Rows) -> Rows:
        return Rows(self._code, lambda i: _rounded("fsub", self.at(i), other.at(i)))

    def scaled(self, factor: Number) -> Rows:
        """Every number times one that is the same for all, in the precision of the numbers."""

        def product(i: Number) -> Number:
            x = self.at(i)
            return _rounded("fmul", self._code.real(factor, x.kind), x)

        return Rows(self._code, product)


def _rounded(verb: str, x: Number, y: Number) -> Number:
    return x.code.put(f"{verb} {x.kind} {x.name}, {y.name}", x.kind)


def call_rows(
    code: Code, function: object, count: Number, given: Sequence[tuple[str, Number | int]]
) -> None:
    """Call a function of rows.

    function: Its address.
    count: Rows.
    given: Address of each input and output, and how many numbers it is from row to row.
    """
    n = len(given)
    pointers, strides = (code.slot(f"[{n} x {kind}]") for kind in ("ptr", "i64"))
    for k, (pointer, stride) in enumerate(given):
        code.store(pointer, pointers, k, "ptr")
        code.store(stride, strides, k, "i64")
    code.do(f"call void {function}(i64 0, i64 {count}, ptr {pointers}, ptr {strides})")
