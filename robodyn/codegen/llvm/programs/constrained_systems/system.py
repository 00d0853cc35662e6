"""A constrained system in memory, and ways to solve it.

Forces first, all at once, or motions apart from forces.
"""

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
from robodyn.tolerances import LIGHT_PIVOT, MASS_MATRIX_ZERO, MATRIX_ROUNDING

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


def nullspace(system: System) -> Number:
    """``a = -Y^T right + Z u``, Z an orthonormal null space of the constraints [Mufti (40)]."""
    s = system
    product(s.Yt, s.right, s.a, (s.n, s.rank, 1), factor=-1.0)
    return s.code.choose(motions_apart(s, s.Z), s.code.integer(SOLVED), SINGULAR)


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


#: By name; the program takes the place of one among them.
METHODS = {"kkt": kkt, "schur": schur, "nullspace": nullspace, "partition": partition}
