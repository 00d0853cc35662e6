"""Products, copies and triangular solves of matrices in memory."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.matrices import Matrix, call_routine
from robodyn.codegen.llvm.builder.values import Number


def product(
    A: Matrix, B: Matrix, C: Matrix, shape: tuple[Number | int, ...], transposed: str = "NN",
    *, factor: Number | float = 1.0, keep: float = 0.0,
) -> None:  # fmt: skip
    """``C = factor A B + keep C`` with A (m, k), B (k, n), of ``shape = (m, k, n)``.

    ``transposed`` has a T for each of A, B that stands transposed in memory, else an N.
    """
    m, k, n = shape
    if type(n) is int:  # a vector
        rows, columns = (k, m) if transposed == "TN" else (m, k)
        if keep == 0.0:  # dgemv leaves C as it was where k is 0
            for i in A.code.each(m):
                C.put(0.0, i)
        call_routine(A.code, "dgemv", transposed[0], rows, columns, factor, A, B, 1, keep, C, 1)
    else:
        call_routine(A.code, "dgemm", *transposed, m, n, k, factor, A, B, keep, C)


def copy(
    A: Matrix, B: Matrix, rows: Number, columns: Number | int = 1, factor: float = 1.0
) -> None:
    """``B = factor A``."""
    code = A.code
    for j in code.each(columns):
        for i in code.each(rows):
            B.put(A.get(i, j) * factor, i, j)


def solve_triangular(L: Matrix, kind: str, X: Matrix, n: Number, columns: Number | int = 1) -> None:
    """``L^-1 X`` or ``L^-T X`` in place; L (n, n), ``kind`` is L or U (lower, upper), N or T."""
    if type(columns) is int:  # a vector
        call_routine(L.code, "dtrsv", *kind, "N", n, L, X, 1)
    else:
        call_routine(L.code, "dtrsm", "L", *kind, "N", n, columns, 1.0, L, X)
