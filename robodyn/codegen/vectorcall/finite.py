"""LLVM IR that checks whether results are finite numbers, right after they are written.

Results of bound methods are checked. Those of a batch are checked block by block, by the threads
that computed them, while they are still in the caches of their cores: ``checked`` is a kernel
itself, which calls the kernel of the function for a block of rows and then checks what that has
written.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.table import MAX_PORTS

__all__ = ["HIDDEN", "checked_function", "look_function"]

#: What ``checked`` finds behind the addresses of the arrays: the kernel, where to note that some
#: number is not finite, the index of the first result, and how many there are.
HIDDEN = {name: MAX_PORTS + k for k, name in enumerate(("kernel", "flaw", "first", "count"))}

#: Numbers looked at together, and rows computed before they are looked at.
LANES, BLOCK = 8, 128

#: Vectors looked at before it is asked whether to go on.
TOGETHER = 4

#: Bits of infinity.
_INFINITY = {"double": 0x7FF << 52, "float": 0xFF << 23}


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
    """The function that looks, while it is written."""

    def __init__(self, dtype: str) -> None:
        self.code = Code(f"@look_{dtype}(ptr %start, i64 %count)", "internal i1")
        self.bits = "i64" if dtype == "double" else "i32"
        self.flawed = self.code.label("flawed")
        self._limit = str(2 * _INFINITY[dtype])

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
        """Look at some vectors."""
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


def checked_function(dtype: str) -> Code:
    """``checked_double``, a kernel of many rows: calls another one and looks at what it wrote."""
    head = f"@checked_{dtype}(i64 %begin, i64 %end, ptr %data, ptr %strides)"
    code = Code(head, "internal void")
    begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
    data, strides = code.argument("data", "ptr"), code.argument("strides", "ptr")
    kernel, flaw = (code.load(data, HIDDEN[name], "ptr") for name in ("kernel", "flaw"))
    result, count = (code.load(data, HIDDEN[name], "i64") for name in ("first", "count"))
    blocks = (end - begin) / BLOCK
    blocks = code.choose(blocks > 1, blocks, 1)
    for k in code.each(blocks):
        first = begin + k * BLOCK
        # the last block has what is left, so that none is shorter than a vector
        following = code.choose(k.equals(blocks - 1), end, first + BLOCK)
        code.call(kernel, "void", first, following, data, strides)
        for j in code.each(result + count, start=result):
            start, size = code.load(data, j, "ptr"), code.load(strides, j, "i64")
            at = Number(code, code.at(start, first * size, dtype), "ptr")
            flawed = code.call(f"@look_{dtype}", "i1", at, (following - first) * size)
            with code.when(flawed, expected=False):
                code.store(1, flaw, 0, "i64")
    return code
