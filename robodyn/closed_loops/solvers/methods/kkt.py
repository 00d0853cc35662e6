"""Accelerations and forces at once."""

from __future__ import annotations

from robodyn.closed_loops.solvers.methods.system import (
    INERTIA_TOLERANCE,
    SINGULAR,
    SOLVED,
    System,
    copy,
)
from robodyn.codegen.llvm.loops import INFO, Number

__all__ = ["kkt"]


def kkt(system: System) -> Number:
    """Solve the symmetric indefinite system ``[M Y^T; Y 0] [a; -mu] = [force; -right]``, (10).

    It has as many negative eigenvalues as constraints, and n positive ones, exactly if M is
    positive definite on the motions left. Their signs are those of the pivots of ``L D L^T``
    (Sylvester): blocks of D with one row, or with two rows and one eigenvalue of each sign.
    """
    s, code, n, rank, x = system, system.code, system.n, system.rank, system.x
    D, size = s.square, n + rank
    copy(s.M, D, n, n)
    for j in code.each(rank):
        for i in code.each(n):
            D.put(s.Yt.get(i, j), n + j, i)
        for i in code.each(rank):
            D.put(0.0, n + i, n + j)
    copy(s.force, x, n)
    copy(s.right, x.part(n), rank, factor=-1.0)
    info = code.call("dsysv", "L", size, 1, D, s.order, x, s.work, s.work_size, INFO)
    copy(x, s.a, n)
    copy(x.part(n), s.mu, rank, factor=-1.0)

    assert info is not None
    zero = code.variable(info)
    negative = code.variable(0)  # twice their number
    for i in code.each(size):
        pivot, alone = D.get(i, i), s.order.get(i) > 0
        with code.when(~alone):
            negative.add(1)
        with code.when(alone & (pivot < 0.0)):
            negative.add(2)
        with code.when(alone & ~(code.size(pivot) > INERTIA_TOLERANCE)):
            zero.value = 1
    definite = zero.value.equals(0) & negative.value.equals(rank + rank)
    return code.choose(definite, code.integer(SOLVED), SINGULAR)
