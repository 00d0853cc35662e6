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

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.vectors import Vectors, constant, vector_type

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


def sincos(w: Vectors, x: str) -> tuple[str, str]:
    """Names of the sine and the cosine of any angle, or of a vector of them.

    Fast within a range, by the C library beyond it.
    """
    if x not in w.angles:
        w.angles[x] = _guarded(w, x)
    return w.angles[x]


def _guarded(w: Vectors, x: str) -> tuple[str, str]:
    code, t = w.code, w.type
    fast = _fast(w, x)
    limit = w.constant((RANGE if w.fma else RANGE_WITHOUT_FMA)[w.dtype])
    each = beyond = w.binary("fcmp ogt", w.intrinsic("fabs", x), limit)
    if w.lanes > 1:
        reduce = f"i1 @llvm.vector.reduce.or.v{w.lanes}i1"
        code.declare(f"declare {reduce}({w.flags})")
        beyond = code.name(f"call {reduce}({w.flags} {beyond})")
    slow, done, before = code.label("slow"), code.label("done"), code.block
    code.branch(beyond, slow, done, expected=False)
    code.begin(slow)
    exact = _slow(w, x)
    if w.lanes > 1:  # only for angles beyond it, so that others have the same result as elsewhere
        exact = [w.select(each, one, other) for one, other in zip(exact, fast, strict=True)]
    code.begin(done)
    sine, cosine = (
        code.name(f"phi {t} [ {one}, %{before} ], [ {other}, %{slow} ]")
        for one, other in zip(fast, exact, strict=True)
    )
    return sine, cosine


def _fast(w: Vectors, x: str) -> tuple[str, str]:
    """The sine and the cosine of an angle within the range."""
    magic, t, i = w.constant(MAGIC[w.dtype]), w.type, w.integers
    shifted = w.muladd(x, w.constant(2.0 / math.pi), magic)
    k = w.binary("fsub", shifted, magic)
    r = _remainder(w, x, k)
    z = w.binary("fmul", r, r)
    rz = w.binary("fmul", r, z)
    s = w.muladd(rz, _polynomial(w, z, SIN[w.dtype]), r)
    half = w.muladd(z, w.constant(-0.5), w.constant(1.0))
    c = w.muladd(w.binary("fmul", z, z), _polynomial(w, z, COS[w.dtype]), half)
    quadrant = w.bits(shifted)
    odd = w.name(f"and {i} {quadrant}, {w.whole(1)}")
    swap = w.name(f"icmp ne {i} {odd}, {w.whole(0)}")
    next_quadrant = w.name(f"add {i} {quadrant}, {w.whole(1)}")
    results = []
    for source, straight, crossed in ((quadrant, s, c), (next_quadrant, c, s)):
        two = w.name(f"and {i} {source}, {w.whole(2)}")
        sign = w.name(f"shl {i} {two}, {w.whole(8 * w.size - 2)}")
        chosen = w.name(f"select {w.flags} {swap}, {t} {crossed}, {t} {straight}")
        results.append(w.from_bits(w.name(f"xor {i} {w.bits(chosen)}, {sign}")))
    return results[0], results[1]


def _polynomial(w: Vectors, z: str, coefficients: tuple[float, ...]) -> str:
    """Estrin's scheme: a short chain."""
    terms, power = [w.constant(x) for x in coefficients], z
    while len(terms) > 1:
        terms = [
            w.muladd(power, terms[k + 1], terms[k]) if k + 1 < len(terms) else terms[k]
            for k in range(0, len(terms), 2)
        ]
        if len(terms) > 1:
            power = w.binary("fmul", power, power)
    return terms[0]


def _remainder(w: Vectors, x: str, k: str) -> str:
    """What is left of x without k quarter turns."""
    if w.dtype == "float" and not w.fma:
        wide = vector_type("double", w.lanes)
        angle, count = (w.name(f"fpext {w.type} {of} to {wide}") for of in (x, k))
        turned = w.name(f"fmul {wide} {count}, {constant(math.pi / 2.0, 'double', w.lanes)}")
        left = w.name(f"fsub {wide} {angle}, {turned}")
        return w.name(f"fptrunc {wide} {left} to {w.type}")
    minus_k, r = w.negative(k), x
    parts = HALF_PI[w.dtype][: 2 if w.dtype == "double" else 3] if w.fma else SHORT_PARTS
    for part in parts:
        r = w.muladd(minus_k, w.constant(part), r)
    return r


def _slow(w: Vectors, x: str) -> list[str]:
    """Sine and cosine by the C library, in a function that writes them to memory."""
    name = f"slow_sincos_{w.lanes}"
    if w.scratch is None:
        w.scratch = w.code.slot(w.type, 64), w.code.slot(w.type, 64)
        w.code.need(_slow_function(name, w.dtype, w.lanes))
    s, c = w.scratch
    w.code.do(f"call void @{name}({w.type} {x}, ptr {s}, ptr {c})")
    return [w.name(f"load {w.type}, ptr {at}, align 64") for at in w.scratch]


def _slow_function(name: str, dtype: str, lanes: int) -> Code:
    t = vector_type(dtype, lanes)
    code = Code(f"@{name}({t} %x, ptr %s, ptr %c)", "internal void", "noinline cold nounwind")
    vectors, one = Vectors(code, dtype, lanes), Vectors(code, dtype, 1)
    for k in range(lanes):
        lane = vectors.lane("%x", k)
        for function, target in (("sin", "%s"), ("cos", "%c")):
            code.store(one.c_function(f"robodyn_{function}", lane), target, k, dtype)
    return code
