"""Independent speeds, and the dependent ones that follow them."""

from __future__ import annotations

from robodyn.closed_loops.solvers.methods.system import SINGULAR, SOLVED, System, motions_apart
from robodyn.codegen.llvm.builder.linear_algebra import copy, solve_triangular
from robodyn.codegen.llvm.builder.matrices import INFO, call_routine
from robodyn.codegen.llvm.builder.values import Number

__all__ = ["partition"]


def partition(system: System) -> Number:
    """Independent speeds u and dependent ones v, ``v' = B_vu u' + b'`` [PyMbs (9)-(11)].

    The dependent ones are those that the constraints determine best (Wehage and Haug 1982), by
    column pivoting: ``Y[:, order] = Q [R_v R_u]``, they stand first, and
    ``B_vu = -R_v^-1 R_u``, ``b' = -R_v^-1 Q^T right``.
    """
    s, code, n, rank, left = system, system.code, system.n, system.rank, system.left
    R_v, R_u, Q_right, basis = s.square, s.square.part(0, rank), s.x, s.Z
    for i in code.each(n):
        s.order.put(0, i)  # any column may come first
        for j in code.each(rank):
            R_v.put(s.Yt.get(i, j), j, i)
    call_routine(code, "dgeqp3", rank, n, R_v, s.order, s.tau, s.work, s.work_size, INFO)
    copy(s.right, Q_right, rank)
    call_routine(code, "dorm2r", "L", "T", rank, 1, rank, R_v, s.tau, Q_right, s.work, INFO)
    solve_triangular(R_v, "UN", Q_right, rank)
    solve_triangular(R_v, "UN", R_u, rank, left)
    for i in code.each(n):
        row, dependent = s.order.get(i) - 1, i < rank
        with code.when(dependent):
            s.a.put(-Q_right.get(i), row)
            for j in code.each(left):
                basis.put(-R_u.get(i, j), row, j)
        with code.when(~dependent):
            s.a.put(0.0, row)
            for j in code.each(left):
                basis.put(0.0, row, j)
            basis.put(1.0, row, i - rank)
    return code.choose(motions_apart(s, basis), code.integer(SOLVED), SINGULAR)
