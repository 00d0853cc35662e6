"""The backward pass of Riccati's recursion over the steps of a motion, as a program.

Matrices are column after column: an array of numpy, row after row, is the transposed matrix.
"""

from __future__ import annotations

import ctypes
from typing import Any

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import c_function
from robodyn.codegen.llvm.builder.matrices import (
    INFO,
    Matrix,
    Words,
    Workspace,
    call_routine,
    copy,
    product,
    solve_triangular,
)
from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.codegen.llvm.target.once import once
from robodyn.tolerances import FORCES_SETTLED

_RECURSION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)

#: What ``recursion(words, damping)`` is told, in a table: sizes; addresses of what is given, of the
#: slope and the curvature of the cost to go, which are those of the end at first and of the start
#: at last, of the results, and of a workspace.
WORDS = (
    "n", "size", "m",
    "F", "slope", "curvature", "lower", "upper",
    "s", "S", "change", "gains", "gain", "convex", "workspace",
)  # fmt: skip

#: Passes over the limits of forces; each settles one set of forces that stand at theirs.
PASSES = 20
#: How often a step is halved at most.
HALVINGS = 20


def workspace_size(size: int, m: int) -> int:
    """How many real numbers the workspace takes, for so many states and forces."""
    width = size + m
    return width * (4 * width + 7)


def _workspace(code: Code, pointer: str, size: Number, m: Number) -> Workspace:
    """Memory of one step, with columns of ``width = size + m`` numbers.

    SF (width, size): ``(S F)^T``.
    H, g (width, width), (width,)
    P (m, width): Rows of H by forces, damped.
    L (m, m): Cholesky factor of the damped ``H_uu``.
    K, k (m, size), (m,)
    Hk (width,): ``H_xu k`` and ``H_uu k``.
    slope, newton, moved, free (m,): Of `_within_limits`; ``free`` has 1 for forces at no limit, 0
        for others.
    """
    width = size + m
    columns = {"SF": size, "H": width, "P": width, "L": m, "K": size}
    vectors = ("g", "k", "Hk", "slope", "newton", "moved", "free")
    return Workspace(code, pointer, width, {**columns, **dict.fromkeys(vectors, 1)})


@once
def recursion() -> Any:
    """``recursion(words, damping)``: from the last step to the first; words as in `WORDS`."""
    return c_function(_recursion_ir(), "recursion", _RECURSION, long=True)


def _recursion_ir() -> str:
    code = Code("@recursion(ptr %words, double %damping)")
    words = Words(code, "%words", WORDS)
    n, size, m = (words.number(name) for name in ("n", "size", "m"))
    width = size + m
    w = _workspace(code, words.pointer("workspace"), size, m)
    s, S = Matrix(code, words.pointer("s"), size), Matrix(code, words.pointer("S"), size)
    gain, convex = Matrix(code, words.pointer("gain"), 2), words.indices("convex")

    def row(name: str, i: Number, count: Number, ld: Number) -> Matrix:
        return Matrix(code, words.array(name).at(i * count), ld)

    convex.put(1, 0)
    for back in code.each(n, until=lambda: convex.get(0).equals(0)):
        i = n - 1 - back
        Ft, curvature = row("F", i, size * width, width), row("curvature", i, width * width, width)
        _expand(code, Ft, row("slope", i, width, width), curvature, s, S, w, size, m)
        lower, upper = row("lower", i, m, m), row("upper", i, m, m)
        convex.put(_best(code, w, lower, upper, size, m), 0)
        with code.when(convex.get(0).equals(1)):
            copy(w.k, row("change", i, m, m), m)
            gains = row("gains", i, m * size, size)
            for a in code.each(m):
                for b in code.each(size):
                    gains.put(w.K.get(a, b), b, a)
            _cost_to_go(code, w, gain, s, S, size, m)
    return code.ir()


def _expand(
    code: Code, Ft: Matrix, slope: Matrix, curvature: Matrix, s: Matrix, S: Matrix,
    w: Workspace, size: Number, m: Number,
) -> None:  # fmt: skip
    """``g = l_z + F^T s`` and ``H = L + F^T S F``, and its damped rows P."""
    width = size + m
    product(Ft, S, w.SF, (width, size, size))
    for a in code.each(width):
        w.g.put(slope.get(a), a)
        for b in code.each(width):
            w.H.put(curvature.get(b, a), a, b)
    product(Ft, w.SF, w.H, (width, size, width), "NT", keep=1.0)
    product(Ft, s, w.g, (width, size, 1), keep=1.0)
    copy(w.H.part(size), w.P, m, width)
    damping = code.argument("damping", "double")
    with code.when(damping > 0.0):
        product(Ft.part(size), Ft, w.P, (m, size, width), "NT", factor=damping, keep=1.0)


def _best(
    code: Code, w: Workspace, lower: Matrix, upper: Matrix, size: Number, m: Number
) -> Number:
    """The best k within limits, and K; 1, or 0 where the cost is not convex in the forces."""
    H, g = w.P.part(0, size), w.g.part(size)
    for a in code.each(m):
        w.free.put(1.0, a)
    convex = _factored(code, H, w, m)
    with code.when(convex.equals(1)):
        _newton(g, w, w.k, m)
        outside = code.variable(0)
        for a in code.each(m):
            with code.when((w.k.get(a) < lower.get(a)) | (w.k.get(a) > upper.get(a))):
                outside.value = 1
        with code.when(outside.value.equals(1)):
            _within_limits(code, H, g, lower, upper, w, m)
        for a in code.each(m):
            for b in code.each(size):
                w.K.put(-(w.P.get(a, b) * w.free.get(a)), a, b)
        for kind in ("LN", "LT"):
            solve_triangular(w.L, kind, w.K, m, size)
    return convex


def _factored(code: Code, H: Matrix, w: Workspace, m: Number) -> Number:
    """Fill L with the factor of H among the forces that are free; 1 if H is positive definite.

    Rows and columns of other forces are those of the identity.
    """
    for a in code.each(m):
        for b in code.each(m):
            w.L.put(H.get(a, b) * w.free.get(a) * w.free.get(b), a, b)
        w.L.put(w.L.get(a, a) + (1.0 - w.free.get(a)), a, a)
    info = call_routine(code, "dpotrf", "L", m, w.L, INFO)
    assert info is not None
    return info.equals(0).extended()


def _newton(slope: Matrix, w: Workspace, step: Matrix, m: Number) -> None:
    """Newton's step for a slope, by the factor in L."""
    copy(slope, step, m, factor=-1.0)
    for kind in ("LN", "LT"):
        solve_triangular(w.L, kind, step, m)


def _within_limits(
    code: Code, H: Matrix, g: Matrix, lower: Matrix, upper: Matrix, w: Workspace, m: Number
) -> None:
    """Find the least of ``g k + 1/2 k^T H k`` within limits, and which forces stand at none.

    Newton's method on the forces that are free, with steps that are cut at the limits and halved
    until the cost falls [Bertsekas 1982]. k is where it begins.
    """

    def along(part: Any) -> None:
        for a in code.each(m):
            new = w.k.get(a) + w.newton.get(a) * part
            new = code.choose(new < lower.get(a), lower.get(a), new)
            w.moved.put(code.choose(new > upper.get(a), upper.get(a), new), a)

    def cost(k: Matrix) -> Number:
        """With the slope there."""
        copy(g, w.slope, m)
        product(H, k, w.slope, (m, m, 1), keep=1.0)
        total = code.variable(0.0)
        for a in code.each(m):
            total.add((g.get(a) + w.slope.get(a)) * k.get(a) * 0.5)
        return total.value

    def line_search(now: Variable) -> Number:
        """Whether the cost falls to a point of the step, which is in ``moved``; 1 or 0."""
        part, found = code.variable(1.0), code.variable(0)
        for _ in code.each(HALVINGS, until=lambda: found.value.equals(1)):
            along(part.value)
            there = cost(w.moved)
            part.value = part.value * 0.5
            with code.when(there <= now.value):
                now.value = there
                found.value = 1
        return found.value

    for a in code.each(m):
        w.newton.put(0.0, a)
    along(0.0)
    copy(w.moved, w.k, m)
    now, settled = code.variable(cost(w.k)), code.variable(0)
    for _ in code.each(PASSES, until=lambda: settled.value.equals(1)):
        for a in code.each(m):
            x, slope = w.k.get(a), w.slope.get(a)
            held = (x <= lower.get(a)) & (slope > 0.0) | (x >= upper.get(a)) & (slope < 0.0)
            free = code.variable(1.0)
            with code.when(held):
                free.value = 0.0
            w.free.put(free.value, a)
            w.slope.put(slope * free.value, a)
        _factored(code, H, w, m)
        _newton(w.slope, w, w.newton, m)
        found = line_search(now)
        settled.value = 1
        with code.when(found.equals(1)):
            for a in code.each(m):
                change = code.size(w.moved.get(a) - w.k.get(a))
                with code.when(change > code.size(w.k.get(a)) * FORCES_SETTLED):
                    settled.value = 0
            copy(w.moved, w.k, m)


def _cost_to_go(
    code: Code, w: Workspace, gain: Matrix, s: Matrix, S: Matrix, size: Number, m: Number
) -> None:
    """What the change gains, and slope and curvature of the cost to go before the step."""
    H, width = w.H, size + m
    product(H.part(0, size), w.k, w.Hk, (width, m, 1))
    for a in code.each(m):
        k = w.k.get(a)
        gain.put(gain.get(0) + w.g.get(size + a) * k, 0)
        gain.put(gain.get(1) + w.Hk.get(size + a) * k * 0.5, 1)
    for a in code.each(width):
        w.g.put(w.g.get(a) + w.Hk.get(a), a)
    copy(w.g, s, size)
    product(w.K, w.g.part(size), s, (size, m, 1), "TN", keep=1.0)
    # S = H_xx + H_xu K + K^T (H_ux + H_uu K), made symmetric
    product(H.part(size, size), w.K, H.part(size), (m, m, size), keep=1.0)
    product(H.part(0, size), w.K, H, (size, m, size), keep=1.0)
    product(w.K, H.part(size), H, (size, m, size), "TN", keep=1.0)
    for a in code.each(size):
        for b in code.each(size):
            S.put((H.get(a, b) + H.get(b, a)) * 0.5, a, b)
