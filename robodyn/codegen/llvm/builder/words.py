"""A table of 64-bit words that Python writes and a program reads, by the names of the words."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.matrices import Indices
from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number


class Words:
    """Numbers and addresses in a table.

    pointer: Address of the table, as IR.
    names: Of the words, in order.
    """

    def __init__(self, code: Code, pointer: object, names: Sequence[str]) -> None:
        self._code, self._pointer = code, pointer
        self._place = {name: k for k, name in enumerate(names)}

    def at(self, name: str) -> str:
        """Address of a word."""
        return self._code.at(self._pointer, self._place[name], "i64")

    def word(self, name: str, kind: str = "i64") -> Number:
        """A word: an integer ``i64``, or an address ``ptr``."""
        return self._code.put(f"load {kind}, ptr {self.at(name)}", kind)

    def number(self, name: str) -> Number:
        """An integer."""
        return self.word(name)

    def pointer(self, name: str) -> str:
        """An address."""
        return self.word(name, "ptr").name

    def array(self, name: str, kind: str = "double") -> Buffer:
        """Real numbers ``"double"`` or ``"float"`` at an address."""
        return Buffer(self._code, self.pointer(name), kind)

    def indices(self, name: str) -> Indices:
        """Integers at an address."""
        return Indices(self._code, self.pointer(name), "i64")
