"""Accelerations and forces at once."""

from __future__ import annotations

from robodyn.closed_loops.solvers.methods.system import SINGULAR, SOLVED, System
from robodyn.codegen.llvm.builder.linear_algebra import copy, product
from robodyn.codegen.llvm.builder.matrices import INFO, Matrix, call_routine
from robodyn.codegen.llvm.builder.values import Number
from robodyn.tolerances import MASS_MATRIX_ZERO

__all__ = ["kkt"]


def kkt(system: System) -> Number:
    """Solve the symmetric indefinite system ``[M Y^T; Y 0] [a; -mu] = [force; -right]``, (10).

    The second round solves for what rounding has left of the right side: its pivots can be small
    where speeds are light.
    """
    s, code, n, rank, x = system, system.code, system.n, system.rank, system.x
    D, size = s.square, n + rank
    copy(s.M, D, n, n)
    for j in code.each(rank):
        for i in code.each(n):
            D.put(s.Yt.get(i, j), n + j, i)
        for i in code.each(rank):
            D.put(0.0, n + i, n + j)
    info = call_routine(code, "dsytrf", "L", size, D, s.order, s.work, s.work_size, INFO)
    assert info is not None
    _clear(s.a, n)
    _clear(s.mu, rank)
    for _ in code.each(2):
        copy(s.force, x, n)
        product(s.M, s.a, x, (n, n, 1), factor=-1.0, keep=1.0)
        product(s.Yt, s.mu, x, (n, rank, 1), keep=1.0)
        copy(s.right, x.part(n), rank)
        product(s.Yt, s.a, x.part(n), (rank, n, 1), "TN", factor=-1.0, keep=-1.0)
        call_routine(code, "dsytrs", "L", size, 1, D, s.order, x, INFO)
        for i in code.each(n):
            s.a.put(s.a.get(i) + x.get(i), i)
        for j in code.each(rank):
            s.mu.put(s.mu.get(j) - x.get(n + j), j)
    definite = _definite_on_the_motions(system, D, info)
    return code.choose(definite, code.integer(SOLVED), SINGULAR)


def _clear(x: Matrix, count: Number) -> None:
    for i in x.code.each(count):
        x.put(0.0, i)


def _definite_on_the_motions(system: System, D: Matrix, info: Number) -> Number:
    """Whether the bordered matrix has as many negative eigenvalues as constraints, and none zero.

    So it is exactly if M is positive definite on the motions that the constraints leave. The signs
    are those of ``L D L^T`` (Sylvester): blocks of D with one row, or with two rows and one
    eigenvalue of each sign, which are as large as what stands beside the diagonal.
    """
    s, code = system, system.code
    zero, negative, second = code.variable(info), code.variable(0), code.variable(0)
    for i in code.each(s.n + s.rank):
        alone = s.order.get(i) > 0
        first = ~alone & second.value.equals(0)
        pivot = code.choose(alone, D.get(i, i), D.get(i + 1, i))
        with code.when((alone & (pivot < 0.0)) | first):
            negative.add(1)
        with code.when((alone | first) & ~(code.size(pivot) > MASS_MATRIX_ZERO)):
            zero.value = 1
        second.value = code.choose(first, code.integer(1), 0)
    return zero.value.equals(0) & negative.value.equals(s.rank)
