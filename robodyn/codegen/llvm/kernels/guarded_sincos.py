"""Sine and cosine of any angle: fast within a range, by the C library beyond it."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.sincos import (
    constant,
    largest_angle,
    sincos,
    slow_function,
    slow_name,
    vector_type,
)


class GuardedSincos:
    """Writes sines and cosines into a function.

    fma: Multiply and add with one rounding.
    slow: By lanes: functions for angles out of range.
    """

    def __init__(self, code: Code, dtype: str, fma: bool) -> None:
        self._code, self._dtype, self._fma = code, dtype, fma
        self.slow: dict[int, Code] = {}
        #: By lanes: memory for sine and cosine.
        self._scratch: dict[int, tuple[str, str]] = {}

    def write(self, x: str, lanes: int) -> tuple[str, str]:
        """Names of the sine and the cosine of an angle, or of a vector of them."""
        code, dtype = self._code, self._dtype
        t, flags = vector_type(dtype, lanes), vector_type("i1", lanes)
        s, c = sincos(code, x, dtype, lanes, self._fma)
        size = code.intrinsic("fabs", t, x)
        limit = constant(largest_angle(dtype, self._fma), dtype, lanes)
        each = beyond = code.name(f"fcmp ogt {t} {size}, {limit}")
        if lanes > 1:
            reduce = f"i1 @llvm.vector.reduce.or.v{lanes}i1"
            code.declare(f"declare {reduce}({flags})")
            beyond = code.name(f"call {reduce}({flags} {beyond})")
        slow, done, before = code.label("slow"), code.label("done"), code.block
        code.branch(beyond, slow, done, expected=False)
        code.begin(slow)
        s_slow, c_slow = self._slow_sincos(x, lanes)
        if lanes > 1:  # only for angles beyond it, so that others have the same result as elsewhere
            s_slow = code.name(f"select {flags} {each}, {t} {s_slow}, {t} {s}")
            c_slow = code.name(f"select {flags} {each}, {t} {c_slow}, {t} {c}")
        code.begin(done)
        sine = code.name(f"phi {t} [ {s}, %{before} ], [ {s_slow}, %{slow} ]")
        cosine = code.name(f"phi {t} [ {c}, %{before} ], [ {c_slow}, %{slow} ]")
        return sine, cosine

    def _slow_sincos(self, x: str, lanes: int) -> tuple[str, str]:
        """Sine and cosine by the C library."""
        code, t = self._code, vector_type(self._dtype, lanes)
        if lanes not in self.slow:
            self.slow[lanes] = slow_function(self._dtype, lanes)
            self._scratch[lanes] = code.slot(t, 64), code.slot(t, 64)
        s, c = self._scratch[lanes]
        code.do(f"call void @{slow_name(lanes)}({t} {x}, ptr {s}, ptr {c})")
        return code.name(f"load {t}, ptr {s}, align 64"), code.name(f"load {t}, ptr {c}, align 64")
