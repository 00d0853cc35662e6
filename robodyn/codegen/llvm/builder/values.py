"""Numbers and variables of a program that is being written."""

from __future__ import annotations

from typing import Any, Protocol

#: Kinds of real numbers.
REAL = ("double", "float")


class Writer(Protocol):
    """Protocol of `builder.code.Code`, which writes instructions."""

    def put(self, text: str, kind: str) -> Number:
        """Write an instruction that has a result."""

    def do(self, text: str) -> None:
        """Write an instruction without a result."""

    def text(self, value: Any, kind: str) -> str:
        """A number as an operand of an instruction."""

    def operation(self, symbol: str, a: Any, b: Any) -> Number:
        """``a symbol b``."""


class Number:
    """A value of the program.

    A comparison with something that is not a number is false.

    name: Its name in the text of the program, or a literal.
    kind: As LLVM writes it: an integer ``i64``, a real number ``double`` or ``float``, a condition
        ``i1``, an address ``ptr``, or another integer.
    """

    __slots__ = ("code", "kind", "name")

    def __init__(self, code: Writer, name: str, kind: str) -> None:
        self.code, self.name, self.kind = code, name, kind

    def __str__(self) -> str:
        return self.name

    def __add__(self, other: Any) -> Number:
        return self.code.operation("+", self, other)

    def __radd__(self, other: Any) -> Number:
        return self.code.operation("+", other, self)

    def __sub__(self, other: Any) -> Number:
        return self.code.operation("-", self, other)

    def __rsub__(self, other: Any) -> Number:
        return self.code.operation("-", other, self)

    def __mul__(self, other: Any) -> Number:
        return self.code.operation("*", self, other)

    def __rmul__(self, other: Any) -> Number:
        return self.code.operation("*", other, self)

    def __truediv__(self, other: Any) -> Number:
        return self.code.operation("/", self, other)

    def __rtruediv__(self, other: Any) -> Number:
        return self.code.operation("/", other, self)

    def __mod__(self, other: Any) -> Number:
        return self.code.operation("%", self, other)

    def __neg__(self) -> Number:
        return self.code.operation("-", -0.0 if self.kind in REAL else 0, self)

    def __lt__(self, other: Any) -> Number:
        return self.code.operation("<", self, other)

    def __gt__(self, other: Any) -> Number:
        return self.code.operation(">", self, other)

    def __le__(self, other: Any) -> Number:
        return self.code.operation("<=", self, other)

    def __ge__(self, other: Any) -> Number:
        return self.code.operation(">=", self, other)

    def __and__(self, other: Any) -> Number:
        return self._bits("and", other)

    def __or__(self, other: Any) -> Number:
        return self._bits("or", other)

    def __invert__(self) -> Number:
        return self.code.put(f"xor i1 {self.name}, true", "i1")

    def _bits(self, verb: str, other: Any) -> Number:
        text = f"{verb} {self.kind} {self.name}, {self.code.text(other, self.kind)}"
        return self.code.put(text, self.kind)

    def equals(self, other: Any) -> Number:
        """Whether two integers or addresses are equal."""
        return self._compared("eq", other)

    def differs(self, other: Any) -> Number:
        """Whether two integers or addresses are not equal."""
        return self._compared("ne", other)

    def _compared(self, verb: str, other: Any) -> Number:
        text = f"icmp {verb} {self.kind} {self.name}, {self.code.text(other, self.kind)}"
        return self.code.put(text, "i1")

    def extended(self) -> Number:
        """A condition as 0 or 1, or an integer that is not negative, as an ``i64``."""
        return self.code.put(f"zext {self.kind} {self.name} to i64", "i64")


class Variable:
    """A number that the program changes."""

    def __init__(self, code: Writer, pointer: str, kind: str) -> None:
        self.code, self.pointer, self.kind = code, pointer, kind

    @property
    def value(self) -> Number:
        """Its current value."""
        return self.code.put(f"load {self.kind}, ptr {self.pointer}", self.kind)

    @value.setter
    def value(self, new: Number | float | None) -> None:
        self.code.do(f"store {self.kind} {self.code.text(new, self.kind)}, ptr {self.pointer}")

    def add(self, term: Any) -> None:
        """Add a term of a sum; the compiler may choose the order of the terms."""
        kind = "add i64" if self.kind == "i64" else f"fadd reassoc contract {self.kind}"
        self.value = self.code.put(
            f"{kind} {self.value.name}, {self.code.text(term, self.kind)}", self.kind
        )
