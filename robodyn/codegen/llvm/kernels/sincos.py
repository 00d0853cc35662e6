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

from robodyn.symbolic.graph import ByPrecision

__all__ = ["constant", "largest_angle", "sincos", "slow_function"]

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


def constant(value: float, dtype: str, lanes: int) -> str:
    """A float literal in all lanes."""
    text = number(value, dtype)
    return text if lanes == 1 else "<" + ", ".join([f"{dtype} {text}"] * lanes) + ">"


def _integers(value: int, dtype: str, lanes: int) -> str:
    kind = "i64" if dtype == "double" else "i32"
    return str(value) if lanes == 1 else "<" + ", ".join([f"{kind} {value}"] * lanes) + ">"


class _Writer:
    """Instructions over one vector type."""

    def __init__(self, prefix: str, dtype: str, lanes: int, fma: bool) -> None:
        self.lines: list[str] = []
        self.prefix, self.dtype, self.lanes, self.fma = prefix, dtype, lanes, fma
        self.type = dtype if lanes == 1 else f"<{lanes} x {dtype}>"
        width = "i64" if dtype == "double" else "i32"
        self.int = width if lanes == 1 else f"<{lanes} x {width}>"
        self.bool = "i1" if lanes == 1 else f"<{lanes} x i1>"

    def put(self, text: str) -> str:
        name = f"%{self.prefix}.{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def c(self, value: float) -> str:
        return constant(value, self.dtype, self.lanes)

    def i(self, value: int) -> str:
        return _integers(value, self.dtype, self.lanes)

    def mul(self, a: str, b: str) -> str:
        return self.put(f"fmul {self.type} {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        if not self.fma:
            product = self.put(f"fmul {self.type} {a}, {b}")
            return self.put(f"fadd {self.type} {product}, {c}")
        suffix = (
            ("f64" if self.dtype == "double" else "f32")
            if self.lanes == 1
            else (f"v{self.lanes}" + ("f64" if self.dtype == "double" else "f32"))
        )
        t = self.type
        return self.put(f"call {t} @llvm.fma.{suffix}({t} {a}, {t} {b}, {t} {c})")

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


def sincos(x: str, prefix: str, dtype: str, lanes: int, fma: bool) -> tuple[list[str], str, str]:
    """IR for the sine and cosine of ``x``, which must be within `largest_angle`.

    Returns
    -------
    lines : list of str
    sine, cosine : str
        Names of the results.
    """
    w = _Writer(prefix, dtype, lanes, fma)
    bits = 64 if dtype == "double" else 32
    shifted = w.muladd(x, w.c(2.0 / math.pi), w.c(MAGIC[dtype]))
    k = w.put(f"fsub {w.type} {shifted}, {w.c(MAGIC[dtype])}")
    r = _remainder(w, x, k)
    z = w.mul(r, r)
    rz = w.mul(r, z)
    s = w.muladd(rz, w.polynomial(z, SIN[dtype]), r)
    half = w.muladd(z, w.c(-0.5), w.c(1.0))
    c = w.muladd(w.mul(z, z), w.polynomial(z, COS[dtype]), half)
    quadrant = w.put(f"bitcast {w.type} {shifted} to {w.int}")
    odd = w.put(f"and {w.int} {quadrant}, {w.i(1)}")
    swap = w.put(f"icmp ne {w.int} {odd}, {w.i(0)}")
    next_quadrant = w.put(f"add {w.int} {quadrant}, {w.i(1)}")
    results = []
    for source, straight, crossed in ((quadrant, s, c), (next_quadrant, c, s)):
        two = w.put(f"and {w.int} {source}, {w.i(2)}")
        sign = w.put(f"shl {w.int} {two}, {w.i(bits - 2)}")
        chosen = w.put(f"select {w.bool} {swap}, {w.type} {crossed}, {w.type} {straight}")
        raw = w.put(f"bitcast {w.type} {chosen} to {w.int}")
        flipped = w.put(f"xor {w.int} {raw}, {sign}")
        results.append(w.put(f"bitcast {w.int} {flipped} to {w.type}"))
    return w.lines, results[0], results[1]


def _remainder(w: _Writer, x: str, k: str) -> str:
    """What is left of x without k quarter turns."""
    if w.dtype == "float" and not w.fma:
        wide = "double" if w.lanes == 1 else f"<{w.lanes} x double>"
        angle, count = (w.put(f"fpext {w.type} {of} to {wide}") for of in (x, k))
        turned = w.put(f"fmul {wide} {count}, {constant(math.pi / 2.0, 'double', w.lanes)}")
        left = w.put(f"fsub {wide} {angle}, {turned}")
        return w.put(f"fptrunc {wide} {left} to {w.type}")
    minus_k, r = w.put(f"fneg {w.type} {k}"), x
    parts = HALF_PI[w.dtype][: 2 if w.dtype == "double" else 3] if w.fma else SHORT_PARTS
    for part in parts:
        r = w.muladd(minus_k, w.c(part), r)
    return r


def slow_function(dtype: str, lanes: int) -> str:
    """A function that asks the C library, lane by lane; results are written to memory."""
    t = dtype if lanes == 1 else f"<{lanes} x {dtype}>"
    lines = [f"define internal void @slow_sincos({t} %x, ptr %s, ptr %c) noinline cold nounwind {{"]
    for k in range(lanes):
        if lanes == 1:
            lane = "%x"
        else:
            lines.append(f"  %x{k} = extractelement {t} %x, i32 {k}")
            lane = f"%x{k}"
        if dtype == "float":
            lines.append(f"  %d{k} = fpext float {lane} to double")
            lane = f"%d{k}"
        for name in ("sin", "cos"):
            lines.append(f"  %{name}{k} = call double @robodyn_{name}(double {lane})")
            result = f"%{name}{k}"
            if dtype == "float":
                lines.append(f"  %{name}t{k} = fptrunc double {result} to float")
                result = f"%{name}t{k}"
            lines.append(f"  %p{name}{k} = getelementptr {dtype}, ptr %{name[0]}, i64 {k}")
            lines.append(f"  store {dtype} {result}, ptr %p{name}{k}")
    lines += ["  ret void", "}"]
    return "\n".join(lines)
