"""Instructions over vectors of numbers, or over numbers where there is one lane."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from robodyn.codegen.llvm.builder.code import Code
from robodyn.symbolic.graph import ByPrecision


def number(value: float, dtype: str) -> str:
    """A float literal."""
    if dtype == "float":
        value = value.single if isinstance(value, ByPrecision) else value
        value = struct.unpack("f", struct.pack("f", value))[0]
    return "0x" + struct.pack(">d", value).hex().upper()


def vector_type(scalar: str, lanes: int) -> str:
    """The type of a vector, or of a number where there is one lane."""
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def constant(value: float, dtype: str, lanes: int) -> str:
    """A float literal in all lanes."""
    return _everywhere(number(value, dtype), dtype, lanes)


def _everywhere(text: str, kind: str, lanes: int) -> str:
    return text if lanes == 1 else f"<{', '.join([f'{kind} {text}'] * lanes)}>"


def shuffle(kind: str, a: str, b: str, picked: Iterable[int]) -> str:
    """The text of an instruction that picks lanes of two vectors, one after the other."""
    mask = [f"i32 {k}" for k in picked]
    return f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{', '.join(mask)}>"


class Vectors:
    """Vectors of one type in a function.

    fma: Multiply and add with one rounding.
    size: Bytes of a number.
    type, flags, integers: As LLVM writes the vectors, those of conditions, and those of integers
        that are as wide as the numbers.
    angles: Sine and cosine of angles, by name, that are known.
    """

    def __init__(self, code: Code, dtype: str, lanes: int, fma: bool = True) -> None:
        self.code, self.name, self.dtype, self.lanes = code, code.name, dtype, lanes
        self.fma, self.size = fma, 8 if dtype == "double" else 4
        self.integer = f"i{8 * self.size}"
        self.type, self.flags = vector_type(dtype, lanes), vector_type("i1", lanes)
        self.integers = vector_type(self.integer, lanes)
        self.angles: dict[str, tuple[str, str]] = {}
        #: Memory for the sine and the cosine of an angle that is out of range.
        self.scratch: tuple[str, str] | None = None

    def constant(self, value: float) -> str:
        """A number in all lanes."""
        return constant(value, self.dtype, self.lanes)

    def whole(self, value: int) -> str:
        """An integer in all lanes."""
        return _everywhere(str(value), self.integer, self.lanes)

    def literal(self, values: Iterable[float]) -> str:
        """A number in each lane."""
        return f"<{', '.join(f'{self.dtype} {number(x, self.dtype)}' for x in values)}>"

    # -- lanes --------------------------------------------------------------------------------

    def splat(self, x: object) -> str:
        """A number in all lanes."""
        if self.lanes == 1:
            return str(x)
        one, mask = self.with_lane("poison", 0, x), f"<{self.lanes} x i32> zeroinitializer"
        return self.name(f"shufflevector {self.type} {one}, {self.type} poison, {mask}")

    def lane(self, x: str, k: int) -> str:
        """The number in a lane."""
        return x if self.lanes == 1 else self.name(f"extractelement {self.type} {x}, i32 {k}")

    def with_lane(self, x: str, k: int, value: object) -> str:
        """A vector with a number in a lane."""
        return self.name(f"insertelement {self.type} {x}, {self.dtype} {value}, i32 {k}")

    def joined(self, values: Iterable[object], rest: str = "poison") -> str:
        """Numbers, each in its lane."""
        for k, value in enumerate(values):
            rest = self.with_lane(rest, k, value)
        return rest

    # -- arithmetic ---------------------------------------------------------------------------

    def binary(self, verb: str, a: str, b: str) -> str:
        """An operation of two operands."""
        return self.name(f"{verb} {self.type} {a}, {b}")

    def negative(self, x: str) -> str:
        """A vector with the other sign."""
        return self.name(f"fneg {self.type} {x}")

    def intrinsic(self, function: str, *given: str) -> str:
        """A function of LLVM."""
        return self.code.intrinsic(function, self.type, *given)

    def muladd(self, a: str, b: str, c: str) -> str:
        """``a b + c``, with one rounding where there is an instruction for that."""
        if self.fma:
            return self.intrinsic("fma", a, b, c)
        return self.binary("fadd", self.binary("fmul", a, b), c)

    def select(self, condition: str, a: str, b: str) -> str:
        """One of two vectors, lane by lane."""
        t = self.type
        return self.name(f"select {self.flags} {condition}, {t} {a}, {t} {b}")

    def bits(self, x: str) -> str:
        """The bits of numbers as integers."""
        return self.name(f"bitcast {self.type} {x} to {self.integers}")

    def from_bits(self, x: str) -> str:
        """The numbers that some integers are the bits of."""
        return self.name(f"bitcast {self.integers} {x} to {self.type}")

    def c_function(self, function: str, *given: str) -> str:
        """A function of the C library, which computes in double precision, lane by lane."""
        self.code.declare(f"declare double @{function}({', '.join(['double'] * len(given))})")
        values = (
            self._called(function, [self.lane(x, k) for x in given]) for k in range(self.lanes)
        )
        return next(values) if self.lanes == 1 else self.joined(values)

    def _called(self, function: str, given: list[str]) -> str:
        if self.dtype == "float":
            given = [self.name(f"fpext float {x} to double") for x in given]
        result = self.name(f"call double @{function}({', '.join(f'double {x}' for x in given)})")
        if self.dtype == "double":
            return result
        return self.name(f"fptrunc double {result} to float")
