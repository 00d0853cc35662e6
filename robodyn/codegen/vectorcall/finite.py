"""LLVM IR that checks whether numbers are finite."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number

#: Numbers checked together.
LANES = 8

#: Number of vectors checked between two branches.
TOGETHER = 4

#: Bits of infinity.
INFINITY = {"double": 0x7FF << 52, "float": 0xFF << 23}


def look_function(dtype: str) -> Code:
    """``i1 look_double(start, count)``: some number is not finite.

    Numbers are looked at as integers, since it has to be known soon after the last one was
    written. A number without its sign is finite below the bits of infinity.
    """
    look = _Look(dtype)
    code, count, many = look.code, look.code.argument("count", "i64"), LANES * TOGETHER
    for k in code.each(count / many):
        look.vectors(k * many, TOGETHER)
    for n in (2, 1):
        with code.when((count & (LANES * n)).differs(0)):
            look.vectors(count & (-2 * LANES * n), n)
    for rest in (4, 2, 1):
        with code.when((count & rest).differs(0)):
            first = count & (-2 * rest)
            for j in range(rest):
                look.go_on_if_finite(look.beyond(first + j, look.bits))
    code.give(Number(code, "false", "i1"))
    code.begin(look.flawed)
    code.give(Number(code, "true", "i1"))
    return code


class _Look:
    """The checking function, while it is written."""

    def __init__(self, dtype: str) -> None:
        self.code = Code(f"@look_{dtype}(ptr %start, i64 %count)", "internal i1")
        self.bits = "i64" if dtype == "double" else "i32"
        self.flawed = self.code.label("flawed")
        self._limit = str(2 * INFINITY[dtype])

    def beyond(self, index: Number, kind: str) -> str:
        """Whether the numbers from an index on are not finite."""
        limit = self._limit
        if kind != self.bits:
            limit = f"<{', '.join([f'{self.bits} {limit}'] * LANES)}>"
        at = self.code.at("%start", index, self.bits)
        x = self.code.name(f"load {kind}, ptr {at}, align 4")
        twice = self.code.name(f"add {kind} {x}, {x}")
        return self.code.name(f"icmp uge {kind} {twice}, {limit}")

    def vectors(self, first: Number, n: int) -> None:
        """Check some vectors."""
        kind, flags = f"<{LANES} x {self.bits}>", f"<{LANES} x i1>"
        some = self.beyond(first, kind)
        for k in range(1, n):
            other = self.beyond(first + LANES * k, kind)
            some = self.code.name(f"or {flags} {some}, {other}")
        signs = self.code.put(f"bitcast {flags} {some} to i{LANES}", f"i{LANES}")
        self.go_on_if_finite(signs.differs(0))

    def go_on_if_finite(self, some: object) -> None:
        """End the function unless all numbers are finite."""
        following = self.code.label("on")
        self.code.branch(some, self.flawed, following, expected=False)
        self.code.begin(following)
