"""Forces first."""

from __future__ import annotations

from robodyn.closed_loops.solvers.methods.system import SINGULAR, SOLVED, System, cholesky
from robodyn.codegen.llvm.builder.linear_algebra import copy, product, solve_triangular
from robodyn.codegen.llvm.builder.matrices import INFO, call_routine
from robodyn.codegen.llvm.builder.values import Number
from robodyn.tolerances import LIGHT_PIVOT

__all__ = ["schur"]


def schur(system: System) -> Number:
    """``Y M^-1 Y^T mu = -(right + Y M^-1 force)`` [Mufti (14); Wittenburg (5.203)].

    With ``M = L L^T`` and ``L^-1 Y^T[:, order] = Q R`` the matrix is ``R^T R`` and is never formed
    [Mufti (A-5)-(A-7)]; columns are pivoted, since light speeds make some of them large. Massless
    and light speeds get inertia by augmentation: ``M + Y^T Y`` with ``force - Y^T right`` has the
    same solution [Mufti App.].
    """
    s, code, n, rank = system, system.code, system.n, system.rank
    L, QR, z, inside, y = s.square, s.room, s.a, s.x, s.y
    status = code.variable(SOLVED)
    copy(s.M, L, n, n)
    copy(s.force, z, n)
    with code.when(~cholesky(L, n, LIGHT_PIVOT)):
        copy(s.M, L, n, n)
        product(s.Yt, s.Yt, L, (n, rank, n), "NT", keep=1.0)
        product(s.Yt, s.right, z, (n, rank, 1), factor=-1.0, keep=1.0)
        status.value = code.choose(cholesky(L, n), code.integer(SOLVED), SINGULAR)
    solve_triangular(L, "LN", z, n)
    copy(s.Yt, QR, n, rank)
    solve_triangular(L, "LN", QR, n, rank)
    for j in code.each(rank):
        s.order.put(0, j)  # any column may come first
    call_routine(code, "dgeqp3", n, rank, QR, s.order, s.tau, s.work, s.work_size, INFO)

    def turn(transposed: str) -> None:
        call_routine(code, "dorm2r", "L", transposed, n, 1, rank, QR, s.tau, z, s.work, INFO)

    turn("T")  # Q^T L^-1 force
    for j in code.each(rank):
        inside.put(-s.right.get(s.order.get(j) - 1), j)
    solve_triangular(QR, "UT", inside, rank)  # the part of Q^T L^T a in the range of R
    for j in code.each(rank):
        y.put(inside.get(j) - z.get(j), j)
        z.put(inside.get(j), j)
    solve_triangular(QR, "UN", y, rank)
    for j in code.each(rank):
        s.mu.put(y.get(j), s.order.get(j) - 1)
    turn("N")  # L^T a
    solve_triangular(L, "LT", z, n)
    return status.value
