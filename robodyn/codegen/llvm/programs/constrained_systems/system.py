"""A constrained system in memory, and the algebra that the methods are written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.linear_algebra import copy, product, solve_triangular
from robodyn.codegen.llvm.builder.matrices import INFO, Indices, Matrix, call_routine
from robodyn.codegen.llvm.builder.values import Number
from robodyn.tolerances import MASS_MATRIX_ZERO, MATRIX_ROUNDING

#: What became of a system.
SOLVED, SINGULAR, NOT_FINITE = range(3)

#: Columns of the memory that LAPACK asks for: it works on blocks of 32 columns.
WORK = 72


class Workspace(NamedTuple):
    """Memory of one system, where each column is ``ld = nv + nc`` long.

    K: Scaled constraints, a constraint a column, of all speeds.
    K_QR, C_QR: Constraints of the free speeds, and their coefficients C, factored; see `reduction`.
    Q, M, square, room: See `System`.
    columns, rows: Scales of speeds and constraints.
    b, terms: Scaled right sides, and the sizes of their terms.
    given: Accelerations of the speeds that are not free.
    K_tau, C_tau, tau: Scalar factors of Householder reflections.
    force, right, a, mu, x, y: See `System`.
    work: For LAPACK.
    K_order, C_order, order: Of pivots.
    """

    K: Matrix
    K_QR: Matrix
    C_QR: Matrix
    Q: Matrix
    M: Matrix
    square: Matrix
    room: Matrix
    columns: Matrix
    rows: Matrix
    b: Matrix
    terms: Matrix
    given: Matrix
    K_tau: Matrix
    C_tau: Matrix
    tau: Matrix
    force: Matrix
    right: Matrix
    a: Matrix
    mu: Matrix
    x: Matrix
    y: Matrix
    work: Matrix
    K_order: Indices
    C_order: Indices
    order: Indices

    @staticmethod
    def at(code: Code, pointer: str, ld: Number) -> Workspace:
        """Lay it out from an address on."""
        memory = Matrix(code, pointer, ld)
        places: dict[str, Any] = {}
        column: Any = 0
        for names, columns in ((_MATRICES, ld), (_VECTORS, 1), (("work",), WORK), (_ORDERS, 1)):
            for name in names:
                places[name] = memory.part(0, column)
                column = column + columns
        for name in _ORDERS:
            places[name] = Indices(code, places[name].pointer, "i32")
        return Workspace(**places)


_MATRICES = ("K", "K_QR", "C_QR", "Q", "M", "square", "room")
_VECTORS = (
    "columns", "rows", "b", "terms", "given", "K_tau", "C_tau", "tau", "force", "right", "a", "mu",
    "x", "y",
)  # fmt: skip
_ORDERS = ("K_order", "C_order", "order")


def workspace_size(nv: int, nc: int) -> int:
    """How many real numbers a `Workspace` takes."""
    ld = max(nv + nc, 1)
    return ld * (len(_MATRICES) * ld + len(_VECTORS) + WORK + len(_ORDERS))


@dataclass(frozen=True, eq=False)
class System:
    """``M a = force + Y^T mu``, ``Y a = -right``, and memory to solve it in.

    n, rank: Speeds, and constraints.
    M (n, n)
    Q (n, n): Orthogonal, ``[Y^T Z]``: the motions that the constraints prevent, and those they
        leave.
    force, right, a, mu: Vectors (n,), (rank,), (n,), (rank,).
    square, room: Two more matrices, of up to n + rank rows and columns.
    x, y, tau: Vectors of that length.
    order: Of that length.
    work: For LAPACK.
    """

    code: Code
    n: Number
    rank: Number
    M: Matrix
    Q: Matrix
    force: Matrix
    right: Matrix
    a: Matrix
    mu: Matrix
    square: Matrix
    room: Matrix
    x: Matrix
    y: Matrix
    tau: Matrix
    order: Indices
    work: Matrix
    work_size: Number

    @property
    def left(self) -> Number:
        """How many motions the constraints leave."""
        return self.n - self.rank

    @property
    def Yt(self) -> Matrix:
        """Orthonormal constraints, a constraint a column (n, rank)."""
        return self.Q

    @property
    def Z(self) -> Matrix:
        """An orthonormal basis of the motions that they leave (n, left)."""
        return self.Q.part(0, self.rank)


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
