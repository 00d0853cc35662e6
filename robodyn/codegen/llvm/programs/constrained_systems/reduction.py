"""From constraints of any units, scale and rank to orthonormal ones, and back to multipliers.

Speeds are scaled by the square roots of the inertias M_ii and constraints to unit norm, which gives
A (constraints, speeds). A QR factorisation with pivoting, ``A^T[:, order] = [Y^T Z] R``, gives the
rank and orthonormal constraints Y; and C with ``K = C Y``, of full column rank: with its
pseudo-inverse go right sides, so that contradicting ones are met in the least squares sense, and
multipliers, which are those of least 2-norm.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.matrices import INFO, Matrix, call_routine, copy, solve_triangular
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.programs.constrained_systems.system import System
from robodyn.tolerances import SMALL_ROW, ZERO_ROW


def scale_speeds(s: System, M: Matrix) -> None:
    """Square roots of the inertias M_ii; a middle one stands in for a massless speed."""
    code, nv = s.code, s.nv
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
        s.columns.put(code.root(code.choose(inertia > least, inertia, middle)), i)


def scale_constraints(s: System, K: Matrix) -> None:
    """Constraints of unit norm, small ones of less; rounding in zero ones cleared."""
    code, nv, nc = s.code, s.nv, s.nc
    largest = code.variable(0.0)
    for j in code.each(nc):
        square = code.variable(0.0)
        for i in code.each(nv):
            value = K.get(i, j) / s.columns.get(i)
            s.K.put(value, i, j)
            square.add(value * value)
        norm = code.root(square.value)
        s.rows.put(norm, j)
        largest.value = code.choose(norm > largest.value, norm, largest.value)
    typical = code.choose(largest.value > 0.0, largest.value, 1.0)
    for j in code.each(nc):
        norm = s.rows.get(j)
        counts = norm > largest.value * ZERO_ROW
        least = largest.value * SMALL_ROW
        scale = 1.0 / code.choose(counts, code.choose(norm > least, norm, least), typical)
        factor = code.choose(counts, scale, 0.0)
        s.rows.put(scale, j)
        for i in code.each(nv):
            s.K.put(s.K.get(i, j) * factor, i, j)


def gather(s: System, M: Matrix, x: Matrix, k: Matrix) -> None:
    """The scaled system of the free speeds; what the others do goes to the right sides."""
    code, free, n, nc, nv = s.code, s.free, s.n, s.nc, s.nv
    for i in code.each(nv):
        s.given.put(x.get(i), i)
    for i in code.each(n):
        s.given.put(0.0, free.get(i))
    for j in code.each(nc):
        right = s.rows.get(j) * k.get(j)
        b, terms = code.variable(right), code.variable(code.size(right))
        with code.when(n < nv):
            for i in code.each(nv):
                part = s.K.get(i, j) * s.columns.get(i) * s.given.get(i)
                b.add(part)
                terms.add(code.size(part))
        s.b.put(b.value, j)
        s.terms.put(terms.value, j)
        for i in code.each(n):
            s.K_QR.put(s.K.get(free.get(i), j), i, j)
    for j in code.each(n):
        column = free.get(j)
        scale = 1.0 / s.columns.get(column)
        force = code.variable(x.get(column))
        with code.when(n < nv):
            for i in code.each(nv):
                force.add(-(M.get(i, column) * s.given.get(i)))
        s.force.put(force.value * scale, j)
        for i in code.each(n):
            row = free.get(i)
            s.M.put(M.get(row, column) * scale / s.columns.get(row), i, j)


def revealed_rank(s: System, tolerance: Number) -> Number:
    """Factor the constraints of the free speeds; their rank.

    Each step takes the constraint with the largest part outside the span of those taken before.
    Those whose part is no more than ``tolerance`` of the first follow from the others.
    """
    code, R, n, nc = s.code, s.K_QR, s.n, s.nc
    for j in code.each(nc):
        s.K_order.put(0, j)  # any may come first
    call_routine(code, "dgeqp3", n, nc, R, s.K_order, s.K_tau, s.work, s.work_size, INFO)
    most = code.choose(n < nc, n, nc)
    rank = code.variable(0)
    with code.when(most > 0):
        least = code.size(R.get(0, 0)) * tolerance
        for j in code.each(most):
            with code.when(rank.value.equals(j) & (code.size(R.get(j, j)) > least)):
                rank.value = j + 1
    return rank.value


def orthonormal(s: System) -> None:
    """``Q = [Y^T Z]`` from the reflections."""
    copy(s.K_QR, s.Q, s.n, s.rank)
    call_routine(s.code, "dorgqr", s.n, s.n, s.rank, s.Q, s.K_tau, s.work, s.work_size, INFO)


def right_sides(s: System) -> None:
    """Right sides of the orthonormal constraints."""
    code, R, C, y, nc, rank = s.code, s.K_QR, s.C_QR, s.x, s.nc, s.rank
    whole = rank.equals(nc)
    with code.when(whole):
        for j in code.each(nc):
            s.right.put(s.b.get(s.K_order.get(j) - 1), j)
        solve_triangular(R, "UT", s.right, rank)
    with code.when(~whole):
        for i in code.each(nc):
            row = s.K_order.get(i) - 1
            scale = 1.0 / s.rows.get(row)
            for j in code.each(rank):
                C.put(code.choose(i < j, 0.0, R.get(j, i) * scale), row, j)
            y.put(s.b.get(i) / s.rows.get(i), i)
        for j in code.each(rank):
            s.C_order.put(0, j)
        call_routine(code, "dgeqp3", nc, rank, C, s.C_order, s.C_tau, s.work, s.work_size, INFO)
        _reflect(s, "T")
        solve_triangular(C, "UN", y, rank)
        for j in code.each(rank):
            s.right.put(y.get(j), s.C_order.get(j) - 1)


def multipliers(s: System, lam: Matrix) -> None:
    """Multipliers of least 2-norm, of the constraints as given."""
    code, y, nc, rank = s.code, s.x, s.nc, s.rank
    whole = rank.equals(nc)
    with code.when(whole):
        solve_triangular(s.K_QR, "UN", s.mu, rank)
        for j in code.each(nc):
            row = s.K_order.get(j) - 1
            lam.put(s.rows.get(row) * s.mu.get(j), row)
    with code.when(~whole):
        for j in code.each(nc):
            y.put(0.0, j)
        for j in code.each(rank):
            y.put(s.mu.get(s.C_order.get(j) - 1), j)
        solve_triangular(s.C_QR, "UT", y, rank)
        _reflect(s, "N")
        copy(y, lam, nc)


def _reflect(s: System, transposed: str) -> None:
    """``Q_C x`` or ``Q_C^T x`` in place, with C = Q_C R_C."""
    given = "L", transposed, s.nc, 1, s.rank, s.C_QR, s.C_tau, s.x, s.work
    call_routine(s.code, "dorm2r", *given, INFO)


def relative_residual(s: System) -> Number:
    """Largest ``|K a + k|`` over its terms; accelerations without constraints count too."""
    code = s.code
    worst, size = code.variable(0.0), code.variable(0.0)
    for j in code.each(s.nc):
        error, terms = code.variable(s.b.get(j)), code.variable(s.terms.get(j))
        for i in code.each(s.n):
            slope, a = s.K.get(s.free.get(i), j), s.a.get(i)
            error.add(slope * a)
            terms.add(code.size(slope) * (code.size(a) + code.size(s.force.get(i))))
        missed = code.size(error.value)
        worst.value = code.choose(missed > worst.value, missed, worst.value)
        size.value = code.choose(terms.value > size.value, terms.value, size.value)
    return worst.value / code.choose(size.value > 0.0, size.value, 1.0)
