"""sin and cos of a whole vector, as IR: reduction by pi/2, minimax polynomials.

Coefficients: the double-precision kernels of Sun's fdlibm (k_sin.c, k_cos.c) and the
single-precision ones of Moshier's Cephes (sinf.c). Beyond the range in which the reduction is
exact, a cold branch calls the C library for each lane.

A fused multiply-add takes multiples of pi/2 off without rounding them. Where there is none, double
precision takes parts of pi/2 with so few bits that their multiples are exact, as fdlibm does
(e_rem_pio2.c), and single precision reduces in double precision.
"""

from __future__ import annotations

import math
import struct

from robodyn.codegen.llvm.builder.code import Code
from robodyn.symbolic.graph import ByPrecision

#: Largest angle [rad] that the reduction by two (three) parts of pi/2 is accurate for, with FMA.
RANGE = {"double": 1e8, "float": 1e5}

#: The same without FMA: 2^20 quarter turns at most in double precision.
RANGE_WITHOUT_FMA = {"double": 1e6, "float": 1e5}

SIN = {
    "double": (
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    "float": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}
COS = {
    "double": (
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
    "float": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}
#: pi/2 in parts that add up to more digits than one number holds.
HALF_PI = {
    "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    "float": (1.57079637050628662109375, -4.37113900018624283e-8, -1.71512e-15),
}
#: pi/2 in parts of 33, 33 and 53 bits: multiples of the first two up to 2^20 are exact.
SHORT_PARTS = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
#: Adding and subtracting this rounds to an integer, whose low bits then stand in the mantissa.
MAGIC = {"double": 6755399441055744.0, "float": 12582912.0}


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
    text = number(value, dtype)
    return text if lanes == 1 else "<" + ", ".join([f"{dtype} {text}"] * lanes) + ">"


def _integers(value: int, dtype: str, lanes: int) -> str:
    kind = "i64" if dtype == "double" else "i32"
    return str(value) if lanes == 1 else "<" + ", ".join([f"{kind} {value}"] * lanes) + ">"


class _Vectors:
    """Instructions over one vector type."""

    def __init__(self, code: Code, dtype: str, lanes: int, fma: bool) -> None:
        self.name, self.intrinsic = code.name, code.intrinsic
        self.dtype, self.lanes, self.fma = dtype, lanes, fma
        self.type = vector_type(dtype, lanes)
        self.int = vector_type("i64" if dtype == "double" else "i32", lanes)
        self.bool = vector_type("i1", lanes)

    def c(self, value: float) -> str:
        return constant(value, self.dtype, self.lanes)

    def i(self, value: int) -> str:
        return _integers(value, self.dtype, self.lanes)

    def mul(self, a: str, b: str) -> str:
        return self.name(f"fmul {self.type} {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        if self.fma:
            return self.intrinsic("fma", self.type, a, b, c)
        return self.name(f"fadd {self.type} {self.mul(a, b)}, {c}")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        """Estrin's scheme: a short chain."""
        terms = [self.c(x) for x in coefficients]
        power = z
        while len(terms) > 1:
            paired = [
                self.muladd(power, terms[k + 1], terms[k]) if k + 1 < len(terms) else terms[k]
                for k in range(0, len(terms), 2)
            ]
            terms = paired
            if len(terms) > 1:
                power = self.mul(power, power)
        return terms[0]


def largest_angle(dtype: str, fma: bool) -> float:
    """The largest angle [rad] that `sincos` may be given."""
    return (RANGE if fma else RANGE_WITHOUT_FMA)[dtype]


def sincos(code: Code, x: str, dtype: str, lanes: int, fma: bool) -> tuple[str, str]:
    """Write the sine and cosine of ``x``, which must be within `largest_angle`.

    Returns sine, cosine: Names of the results.
    """
    w = _Vectors(code, dtype, lanes, fma)
    bits = 64 if dtype == "double" else 32
    shifted = w.muladd(x, w.c(2.0 / math.pi), w.c(MAGIC[dtype]))
    k = w.name(f"fsub {w.type} {shifted}, {w.c(MAGIC[dtype])}")
    r = _remainder(w, x, k)
    z = w.mul(r, r)
    rz = w.mul(r, z)
    s = w.muladd(rz, w.polynomial(z, SIN[dtype]), r)
    half = w.muladd(z, w.c(-0.5), w.c(1.0))
    c = w.muladd(w.mul(z, z), w.polynomial(z, COS[dtype]), half)
    quadrant = w.name(f"bitcast {w.type} {shifted} to {w.int}")
    odd = w.name(f"and {w.int} {quadrant}, {w.i(1)}")
    swap = w.name(f"icmp ne {w.int} {odd}, {w.i(0)}")
    next_quadrant = w.name(f"add {w.int} {quadrant}, {w.i(1)}")
    results = []
    for source, straight, crossed in ((quadrant, s, c), (next_quadrant, c, s)):
        two = w.name(f"and {w.int} {source}, {w.i(2)}")
        sign = w.name(f"shl {w.int} {two}, {w.i(bits - 2)}")
        chosen = w.name(f"select {w.bool} {swap}, {w.type} {crossed}, {w.type} {straight}")
        raw = w.name(f"bitcast {w.type} {chosen} to {w.int}")
        flipped = w.name(f"xor {w.int} {raw}, {sign}")
        results.append(w.name(f"bitcast {w.int} {flipped} to {w.type}"))
    return results[0], results[1]


def _remainder(w: _Vectors, x: str, k: str) -> str:
    """What is left of x without k quarter turns."""
    if w.dtype == "float" and not w.fma:
        wide = vector_type("double", w.lanes)
        angle, count = (w.name(f"fpext {w.type} {of} to {wide}") for of in (x, k))
        turned = w.name(f"fmul {wide} {count}, {constant(math.pi / 2.0, 'double', w.lanes)}")
        left = w.name(f"fsub {wide} {angle}, {turned}")
        return w.name(f"fptrunc {wide} {left} to {w.type}")
    minus_k, r = w.name(f"fneg {w.type} {k}"), x
    parts = HALF_PI[w.dtype][: 2 if w.dtype == "double" else 3] if w.fma else SHORT_PARTS
    for part in parts:
        r = w.muladd(minus_k, w.c(part), r)
    return r


def slow_function(dtype: str, lanes: int) -> Code:
    """A function that asks the C library, lane by lane; results are written to memory."""
    t = vector_type(dtype, lanes)
    attributes = "noinline cold nounwind"
    code = Code(f"@{slow_name(lanes)}({t} %x, ptr %s, ptr %c)", "internal void", attributes)
    for k in range(lanes):
        lane = "%x" if lanes == 1 else code.name(f"extractelement {t} %x, i32 {k}")
        if dtype == "float":
            lane = code.name(f"fpext float {lane} to double")
        for name, target in (("sin", "%s"), ("cos", "%c")):
            code.declare(f"declare double @robodyn_{name}(double)")
            result = code.name(f"call double @robodyn_{name}(double {lane})")
            if dtype == "float":
                result = code.name(f"fptrunc double {result} to float")
            at = code.at(target, k, dtype)
            code.do(f"store {dtype} {result}, ptr {at}")
    return code


def slow_name(lanes: int) -> str:
    """Name of `slow_function` for vectors of so many lanes."""
    return f"slow_sincos_{lanes}"
