"""Numbers and variables of a program that is being written."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Number", "Variable", "Writer"]


class Writer(Protocol):
    """What writes the instructions: `builder.code.Code`."""

    def put(self, text: str, kind: str) -> Number:
        """Write an instruction that has a result."""

    def do(self, text: str) -> None:
        """Write an instruction without a result, or a label."""

    def text(self, value: Any, kind: str) -> str:
        """A number as it stands in an instruction."""

    def operation(self, symbol: str, a: Any, b: Any) -> Number:
        """``a symbol b``."""


class Number:
    """A value of the program: an integer ``i64``, a real number ``double`` or a condition ``i1``.

    A comparison with something that is not a number is false.
    """

    def __init__(self, code: Writer, name: str, kind: str) -> None:
        self.code, self.name, self.kind = code, name, kind

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

    def __neg__(self) -> Number:
        return self.code.operation("-", 0 if self.kind == "i64" else -0.0, self)

    def __lt__(self, other: Any) -> Number:
        return self.code.operation("<", self, other)

    def __gt__(self, other: Any) -> Number:
        return self.code.operation(">", self, other)

    def __and__(self, other: Number) -> Number:
        return self.code.put(f"and i1 {self.name}, {other.name}", "i1")

    def __or__(self, other: Number) -> Number:
        return self.code.put(f"or i1 {self.name}, {other.name}", "i1")

    def __invert__(self) -> Number:
        return self.code.put(f"xor i1 {self.name}, true", "i1")

    def equals(self, other: int | Number) -> Number:
        """Whether two integers are equal."""
        return self.code.put(f"icmp eq i64 {self.name}, {self.code.text(other, 'i64')}", "i1")


class Variable:
    """A number that the program changes."""

    def __init__(self, code: Writer, pointer: str, kind: str) -> None:
        self.code, self.pointer, self.kind = code, pointer, kind

    @property
    def value(self) -> Number:
        """What it is now."""
        return self.code.put(f"load {self.kind}, ptr {self.pointer}", self.kind)

    @value.setter
    def value(self, new: Number | float) -> None:
        self.code.do(f"store {self.kind} {self.code.text(new, self.kind)}, ptr {self.pointer}")

    def add(self, term: Any) -> None:
        """Add a term of a sum; the compiler may choose the order of the terms."""
        kind = "add i64" if self.kind == "i64" else "fadd reassoc contract double"
        self.value = self.code.put(
            f"{kind} {self.value.name}, {self.code.text(term, self.kind)}", self.kind
        )
