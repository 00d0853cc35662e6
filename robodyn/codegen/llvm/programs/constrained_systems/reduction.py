"""From constraints of any units, scale and rank to orthonormal ones, and back to multipliers.

Speeds are scaled by the square roots of the inertias M_ii and constraints to unit norm, which gives
A (constraints, speeds). A QR factorisation with pivoting, ``A^T[:, order] = [Y^T Z] R``, gives the
rank and orthonormal constraints Y; and C with ``K = C Y``, of full column rank: with its
pseudo-inverse go right sides, so that contradicting ones are met in the least squares sense, and
multipliers, which are those of least 2-norm.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.linear_algebra import copy, solve_triangular
from robodyn.codegen.llvm.builder.matrices import INFO, Indices, Matrix, call_routine
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.programs.constrained_systems.system import Workspace
from robodyn.tolerances import SMALL_ROW, ZERO_ROW


def scale_speeds(M: Matrix, nv: Number, w: Workspace) -> None:
    """Square roots of the inertias M_ii; a middle one stands in for a massless speed."""
    code = M.code
    largest = code.variable(0.0)
    for i in code.each(nv):
        largest.value = code.choose(M.get(i, i) > largest.value, M.get(i, i), largest.value)
    smallest, least = code.variable(largest.value), largest.value * ZERO_ROW
    for i in code.each(nv):
        inertia = M.get(i, i)
        lower = (inertia > least) & (inertia < smallest.value)
        smallest.value = code.choose(lower, inertia, smallest.value)
    middle = code.root(largest.value) * code.root(smallest.value)
    middle = code.choose(largest.value > 0.0, middle, 1.0)
    for i in code.each(nv):
        inertia = M.get(i, i)
        w.columns.put(code.root(code.choose(inertia > least, inertia, middle)), i)


def scale_constraints(K: Matrix, nc: Number, nv: Number, w: Workspace) -> None:
    """Constraints of unit norm, small ones of less; rounding in zero ones cleared."""
    code = K.code
    largest = code.variable(0.0)
    for j in code.each(nc):
        square = code.variable(0.0)
        for i in code.each(nv):
            value = K.get(i, j) / w.columns.get(i)
            w.K.put(value, i, j)
            square.add(value * value)
        norm = code.root(square.value)
        w.rows.put(norm, j)
        largest.value = code.choose(norm > largest.value, norm, largest.value)
    typical = code.choose(largest.value > 0.0, largest.value, 1.0)
    for j in code.each(nc):
        norm = w.rows.get(j)
        counts = norm > largest.value * ZERO_ROW
        least = largest.value * SMALL_ROW
        scale = 1.0 / code.choose(counts, code.choose(norm > least, norm, least), typical)
        factor = code.choose(counts, scale, 0.0)
        w.rows.put(scale, j)
        for i in code.each(nv):
            w.K.put(w.K.get(i, j) * factor, i, j)


def gather(
    M: Matrix, x: Matrix, k: Matrix, free: Indices, n: Number, nc: Number, nv: Number, w: Workspace
) -> None:
    """The scaled system of the free speeds; what the others do goes to the right sides."""
    code = M.code
    for i in code.each(nv):
        w.given.put(x.get(i), i)
    for i in code.each(n):
        w.given.put(0.0, free.get(i))
    for j in code.each(nc):
        right = w.rows.get(j) * k.get(j)
        b, terms = code.variable(right), code.variable(code.size(right))
        with code.when(n < nv):
            for i in code.each(nv):
                part = w.K.get(i, j) * w.columns.get(i) * w.given.get(i)
                b.add(part)
                terms.add(code.size(part))
        w.b.put(b.value, j)
        w.terms.put(terms.value, j)
        for i in code.each(n):
            w.K_QR.put(w.K.get(free.get(i), j), i, j)
    for j in code.each(n):
        column = free.get(j)
        scale = 1.0 / w.columns.get(column)
        force = code.variable(x.get(column))
        with code.when(n < nv):
            for i in code.each(nv):
                force.add(-(M.get(i, column) * w.given.get(i)))
        w.force.put(force.value * scale, j)
        for i in code.each(n):
            row = free.get(i)
            w.M.put(M.get(row, column) * scale / w.columns.get(row), i, j)


def revealed_rank(
    w: Workspace, n: Number, nc: Number, tolerance: Number, work_size: Number
) -> Number:
    """Factor the constraints of the free speeds; their rank.

    Each step takes the constraint with the largest part outside the span of those taken before.
    Those whose part is no more than ``tolerance`` of the first follow from the others.
    """
    code, R = w.K_QR.code, w.K_QR
    for j in code.each(nc):
        w.K_order.put(0, j)  # any may come first
    call_routine(code, "dgeqp3", n, nc, R, w.K_order, w.K_tau, w.work, work_size, INFO)
    most = code.choose(n < nc, n, nc)
    rank = code.variable(0)
    with code.when(most > 0):
        least = code.size(R.get(0, 0)) * tolerance
        for j in code.each(most):
            with code.when(rank.value.equals(j) & (code.size(R.get(j, j)) > least)):
                rank.value = j + 1
    return rank.value


def orthonormal(w: Workspace, n: Number, rank: Number, work_size: Number) -> None:
    """``Q = [Y^T Z]`` from the reflections."""
    copy(w.K_QR, w.Q, n, rank)
    call_routine(w.Q.code, "dorgqr", n, n, rank, w.Q, w.K_tau, w.work, work_size, INFO)


def right_sides(w: Workspace, nc: Number, rank: Number, work_size: Number) -> None:
    """Right sides of the orthonormal constraints."""
    code, R, C, y = w.Q.code, w.K_QR, w.C_QR, w.x
    whole = rank.equals(nc)
    with code.when(whole):
        for j in code.each(nc):
            w.right.put(w.b.get(w.K_order.get(j) - 1), j)
        solve_triangular(R, "UT", w.right, rank)
    with code.when(~whole):
        for i in code.each(nc):
            row = w.K_order.get(i) - 1
            scale = 1.0 / w.rows.get(row)
            for j in code.each(rank):
                C.put(code.choose(i < j, 0.0, R.get(j, i) * scale), row, j)
            y.put(w.b.get(i) / w.rows.get(i), i)
        for j in code.each(rank):
            w.C_order.put(0, j)
        call_routine(code, "dgeqp3", nc, rank, C, w.C_order, w.C_tau, w.work, work_size, INFO)
        _reflect(w, "T", nc, rank)
        solve_triangular(C, "UN", y, rank)
        for j in code.each(rank):
            w.right.put(y.get(j), w.C_order.get(j) - 1)


def multipliers(lam: Matrix, w: Workspace, nc: Number, rank: Number) -> None:
    """Multipliers of least 2-norm, of the constraints as given."""
    code, y = w.Q.code, w.x
    whole = rank.equals(nc)
    with code.when(whole):
        solve_triangular(w.K_QR, "UN", w.mu, rank)
        for j in code.each(nc):
            row = w.K_order.get(j) - 1
            lam.put(w.rows.get(row) * w.mu.get(j), row)
    with code.when(~whole):
        for j in code.each(nc):
            y.put(0.0, j)
        for j in code.each(rank):
            y.put(w.mu.get(w.C_order.get(j) - 1), j)
        solve_triangular(w.C_QR, "UT", y, rank)
        _reflect(w, "N", nc, rank)
        copy(y, lam, nc)


def _reflect(w: Workspace, transposed: str, nc: Number, rank: Number) -> None:
    """``Q_C x`` or ``Q_C^T x`` in place, with C = Q_C R_C."""
    call_routine(
        w.Q.code, "dorm2r", "L", transposed, nc, 1, rank, w.C_QR, w.C_tau, w.x, w.work, INFO
    )


def relative_residual(w: Workspace, free: Indices, n: Number, nc: Number) -> Number:
    """Largest ``|K a + k|`` over its terms; accelerations without constraints count too."""
    code = w.K.code
    worst, size = code.variable(0.0), code.variable(0.0)
    for j in code.each(nc):
        error, terms = code.variable(w.b.get(j)), code.variable(w.terms.get(j))
        for i in code.each(n):
            slope, a = w.K.get(free.get(i), j), w.a.get(i)
            error.add(slope * a)
            terms.add(code.size(slope) * (code.size(a) + code.size(w.force.get(i))))
        missed = code.size(error.value)
        worst.value = code.choose(missed > worst.value, missed, worst.value)
        size.value = code.choose(terms.value > size.value, terms.value, size.value)
    part = worst.value / code.choose(size.value > 0.0, size.value, 1.0)
    return part
