"""A constrained system in memory, and the algebra that the methods are written in."""

from __future__ import annotations

from typing import Any

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.matrices import (
    INFO,
    Indices,
    Matrix,
    Workspace,
    call_routine,
    copy,
    product,
    solve_triangular,
)
from robodyn.codegen.llvm.builder.values import Number
from robodyn.tolerances import MASS_MATRIX_ZERO, MATRIX_ROUNDING

#: What became of a system.
SOLVED, SINGULAR, NOT_FINITE = range(3)

#: Columns of the memory that LAPACK asks for: it works on blocks of 32 columns.
WORK = 72

#: Integers of LAPACK.
_ORDERS = ("K_order", "C_order", "order")

#: Arrays of a system in memory, by name, and how many columns each has: 0 stands for as many as it
#: has rows.
_COLUMNS = {
    **dict.fromkeys(("K", "K_QR", "C_QR", "Q", "M", "square", "room"), 0),
    **dict.fromkeys(("columns", "rows", "b", "terms", "given", "K_tau", "C_tau", "tau"), 1),
    **dict.fromkeys(("force", "right", "a", "mu", "x", "y"), 1),
    "work": WORK,
    **dict.fromkeys(_ORDERS, 1),
}


def workspace_size(nv: int, nc: int) -> int:
    """How many real numbers the memory of a system takes."""
    ld = max(nv + nc, 1)
    return ld * sum(columns or ld for columns in _COLUMNS.values())


class System:
    """``M a = force + Y^T mu``, ``Y a = -right``, and memory to make and solve it in.

    Arrays have columns of ``nv + nc`` numbers and stand one after the other; a system has some of
    these. `reduction` makes it of one with any constraints, `methods` solve it.

    nv, nc: Speeds, and constraints, before the reduction.
    n, rank: Speeds that are free, and orthonormal constraints.
    free: The free speeds, ascending.
    K: Scaled constraints, a constraint a column, of all speeds.
    K_QR, C_QR: Constraints of the free speeds, and their coefficients C, factored; see `reduction`.
    K_tau, C_tau, tau: Scalar factors of Householder reflections.
    columns, rows: Scales of speeds and constraints.
    b, terms: Scaled right sides, and the sizes of their terms.
    given: Accelerations of the speeds that are not free.
    M (n, n)
    Q (n, n): Orthogonal, ``[Y^T Z]``: the motions that the constraints prevent, and those they
        leave.
    force, right, a, mu: Vectors (n,), (rank,), (n,), (rank,).
    square, room: Two more matrices, of up to n + rank rows and columns.
    x, y: Vectors of that length.
    work, work_size: For LAPACK.
    K_order, C_order, order: Of pivots.
    """

    rank: Number

    def __init__(
        self, code: Code, sizes: tuple[Number, Number, Number], free: Indices, pointer: str
    ) -> None:
        self.code, self.free = code, free
        self.nv, self.nc, self.n = sizes
        length = self.nv + self.nc
        ld = code.choose(length > 0, length, 1)
        self.work_size = ld * WORK
        self._room = Workspace(code, pointer, ld, {x: n or ld for x, n in _COLUMNS.items()})

    def __getattr__(self, name: str) -> Any:
        """An array: a `Matrix`, or `Indices`."""
        array = getattr(self._room, name)
        return Indices(self.code, array.pointer, "i32") if name in _ORDERS else array

    @property
    def left(self) -> Number:
        """How many motions the constraints leave."""
        return self.n - self.rank

    @property
    def Yt(self) -> Matrix:
        """Orthonormal constraints, a constraint a column (n, rank)."""
        found: Matrix = self.Q
        return found

    @property
    def Z(self) -> Matrix:
        """An orthonormal basis of the motions that they leave (n, left)."""
        return self.Yt.part(0, self.rank)


def cholesky(A: Matrix, n: Number, tolerance: float = MASS_MATRIX_ZERO) -> Number:
    """Replace the lower triangle of A by its Cholesky factor; whether all pivots are larger.

    They also have to be larger than what rounding may make of them: a small pivot before one leaves
    it ``(L_ij / L_jj)^2`` times the rounding of numbers of size one.
    """
    code = A.code
    info = call_routine(code, "dpotrf", "L", n, A, INFO)
    assert info is not None
    definite = code.variable(info)  # 0 if it is
    for i in code.each(n):
        pivot, rounded = A.get(i, i), code.variable(0.0)
        for j in code.each(i):
            ratio = A.get(i, j) / A.get(j, j)
            rounded.add(ratio * ratio)
        square = pivot * pivot
        with code.when(~((square > tolerance) & (square > rounded.value * MATRIX_ROUNDING))):
            definite.value = 1
    return definite.value.equals(0)


def motions_apart(system: System, Z: Matrix) -> Number:
    """Add the motions that the constraints leave to what satisfies them; whether they have inertia.

    ``Z^T M Z u = Z^T (force - M a_p)``, ``a = a_p + Z u`` [Mufti (40), (A-2)], with a_p in ``a``;
    then ``mu = Y (M a - force)``. Z (n, n - rank) is any basis.
    """
    s, n, left = system, system.n, system.left
    M_Z, Z_M_Z, unbalanced, u = s.room, s.square, s.x, s.y
    product(s.M, Z, M_Z, (n, n, left))
    product(Z, M_Z, Z_M_Z, (left, n, left), "TN")
    definite = cholesky(Z_M_Z, left)
    copy(s.force, unbalanced, n)
    product(s.M, s.a, unbalanced, (n, n, 1), factor=-1.0, keep=1.0)
    product(Z, unbalanced, u, (left, n, 1), "TN")
    solve_triangular(Z_M_Z, "LN", u, left)
    solve_triangular(Z_M_Z, "LT", u, left)
    product(Z, u, s.a, (n, left, 1), keep=1.0)
    copy(s.force, unbalanced, n)
    product(s.M, s.a, unbalanced, (n, n, 1), keep=-1.0)
    product(s.Yt, unbalanced, s.mu, (s.rank, n, 1), "TN")
    return definite
