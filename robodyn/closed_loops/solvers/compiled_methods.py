"""Four ways to solve one quadratic programme: Gauss's principle of least constraint [Mufti 1983].

Each takes a system of n speeds with ``rank`` orthonormal constraints,

    M a = force + Y^T mu,    Y a = -right                                   [Mufti (10)]

and finds ``a`` and ``mu``. M has unit diagonal. The answer is `SINGULAR` where M is not positive
definite on the motions that the constraints leave. Plain loops, which are compiled, over numbers
that all stand in one array; see `compiled_algebra`.
"""

from __future__ import annotations

from typing import NamedTuple

from robodyn.closed_loops.solvers.compiled_algebra import (
    Integers,
    Reals,
    add,
    backward,
    cholesky,
    copy,
    dot,
    eliminate,
    fill,
    forward,
    reflect,
    triangulate,
)

__all__ = [
    "AUGMENTED", "MASS_TOLERANCE", "MATRICES", "ORDERS", "SINGULAR", "SOLVED", "VECTORS", "Places",
    "kkt", "nullspace", "partition", "schur",
]  # fmt: skip

#: Pivots of scaled inertias (1 for a single speed) below this are rounding of zero.
MASS_TOLERANCE = 1e-13

#: What became of a system. `AUGMENTED`: solved, with a mass matrix that is not definite.
SOLVED, AUGMENTED, SINGULAR = 0, 1, 2


class Places(NamedTuple):
    """Where the numbers of a system stand, and where there is room to work.

    Attributes
    ----------
    ld : int
        Distance of the rows of all matrices: nv + nc.
    M, Y, force, right, a, mu : int
        As above; `partition` brings M into another order, `nullspace` does without Y.
    K, tau : int
        Reflections of which the first columns of the product are Y^T (`triangulate`).
    square, room : int
        For matrices.
    x, y, scales : int
        For vectors.
    order : int
        For integers.
    A, columns, rows, b, terms, held, C, C_tau, C_order, K_order : int
        The constraints before they are made orthonormal; see `compiled_solve`.
    """

    ld: int
    M: int
    Y: int
    K: int
    square: int
    room: int
    A: int
    C: int
    force: int
    right: int
    a: int
    mu: int
    tau: int
    x: int
    y: int
    scales: int
    columns: int
    rows: int
    b: int
    terms: int
    held: int
    C_tau: int
    order: int
    K_order: int
    C_order: int


#: Numbers of matrices (ld x ld), of vectors and of orders (ld) that there are places for.
MATRICES, VECTORS, ORDERS = 7, 14, 3


def _augmented_cholesky(w: Reals, at: Places, n: int, rank: int) -> bool:
    """Factor ``M + Y^T Y`` into `square`; it is definite if M is on the motions left."""
    ld = at.ld
    for i in range(n):
        row = at.square + i * ld
        copy(w, 1.0, at.M + i * ld, row, i + 1)
        for c in range(rank):
            add(w, w[at.Y + c * ld + i], at.Y + c * ld, row, i + 1)
    return cholesky(w, ld, at.square, n, MASS_TOLERANCE)


def kkt(w: Reals, at: Places, n: int, rank: int) -> int:
    """Solve the symmetric indefinite system ``[M Y^T; Y 0] [a; -mu] = [force; -right]``, (10)."""
    if not _augmented_cholesky(w, at, n, rank):
        return SINGULAR
    ld, S = at.ld, at.square
    copy(w, 1.0, at.force, at.x, n)
    copy(w, -1.0, at.right, at.x + n, rank)
    for i in range(n):
        copy(w, 1.0, at.M + i * ld, S + i * ld, n)
    for i in range(rank):
        row = S + (n + i) * ld
        copy(w, 1.0, at.Y + i * ld, row, n)
        fill(w, 0.0, row + n, rank)
        for j in range(n):
            w[S + j * ld + n + i] = w[row + j]
    eliminate(w, ld, S, n + rank, at.x)
    copy(w, 1.0, at.x, at.a, n)
    copy(w, -1.0, at.x + n, at.mu, rank)
    return SOLVED


def schur(w: Reals, o: Integers, at: Places, n: int, rank: int) -> int:
    """Forces first, ``Y M^-1 Y^T mu = -(right + Y M^-1 force)`` [Mufti (14); Wittenburg (5.203)].

    With ``M = L L^T`` and ``L^-1 Y^T = Q R`` the matrix is ``R^T R`` and is never formed
    [Mufti (A-5)-(A-7)]. Massless speeds get inertia by augmentation: ``M + Y^T Y`` with
    ``force - Y^T right`` has the same solution [Mufti App.].
    """
    ld, L, W, a, inside, order = at.ld, at.square, at.room, at.a, at.x, at.order
    result = SOLVED
    copy(w, 1.0, at.force, a, n)
    for i in range(n):
        copy(w, 1.0, at.M + i * ld, L + i * ld, i + 1)
    if not cholesky(w, ld, L, n, MASS_TOLERANCE):
        if not _augmented_cholesky(w, at, n, rank):
            return SINGULAR
        result = AUGMENTED
        for j in range(rank):
            add(w, -w[at.right + j], at.Y + j * ld, a, n)
    forward(w, ld, L, n, a)
    for j in range(rank):
        copy(w, 1.0, at.Y + j * ld, W + j * ld, n)
        forward(w, ld, L, n, W + j * ld)
    triangulate(w, o, ld, W, rank, n, at.scales, order, 0.0)
    reflect(w, ld, W, at.scales, rank, n, a, False)
    for j in range(rank):
        w[inside + j] = -w[at.right + o[order + j]]
    forward(w, ld, W, rank, inside)  # part of L^T a in the range of Q
    copy(w, 1.0, inside, at.y, rank)
    add(w, -1.0, a, at.y, rank)
    copy(w, 1.0, inside, a, rank)
    backward(w, ld, W, rank, at.y)
    for j in range(rank):
        w[at.mu + o[order + j]] = w[at.y + j]
    reflect(w, ld, W, at.scales, rank, n, a, True)
    backward(w, ld, L, n, a)
    return result


def _reflect_both_sides(w: Reals, at: Places, n: int, j: int) -> None:
    """``H M H`` in `square`, H one of the reflections of K, from row and column j on."""
    ld, v, p, left = at.ld, at.K + j * at.ld + j, at.y, n - j
    corner, diagonal, tau = at.square + j * at.ld + j, w[v], w[at.tau + j]
    w[v] = 1.0
    for i in range(left):
        w[p + i] = tau * dot(w, corner + i * ld, v, left)
    add(w, -0.5 * tau * dot(w, p, v, left), v, p, left)
    for i in range(left):
        add(w, -w[v + i], p, corner + i * ld, left)
        add(w, -w[p + i], v, corner + i * ld, left)
    w[v] = diagonal


def _unbalanced(w: Reals, at: Places, n: int, rank: int, x: int) -> None:
    """``[Y; Z^T] (M a - force)``."""
    for i in range(n):
        w[x + i] = dot(w, at.M + i * at.ld, at.a, n) - w[at.force + i]
    reflect(w, at.ld, at.K, at.tau, rank, n, x, False)


def nullspace(w: Reals, at: Places, n: int, rank: int) -> int:
    """Motions that the constraints leave, ``Z^T M Z u = Z^T (force - M a_p)`` [Mufti (40), (A-2)].

    ``[Y^T Z]`` is a product of reflections, and ``a_p = -Y^T right``. Y itself is not used.
    """
    ld, a, u, left = at.ld, at.a, at.x + rank, n - rank
    Z_M_Z = at.square + rank * ld + rank
    for i in range(n):
        copy(w, 1.0, at.M + i * ld, at.square + i * ld, n)
    for j in range(rank):
        _reflect_both_sides(w, at, n, j)
    if not cholesky(w, ld, Z_M_Z, left, MASS_TOLERANCE):
        return SINGULAR
    copy(w, -1.0, at.right, a, rank)
    fill(w, 0.0, a + rank, left)
    reflect(w, ld, at.K, at.tau, rank, n, a, True)
    _unbalanced(w, at, n, rank, at.x)
    forward(w, ld, Z_M_Z, left, u)
    backward(w, ld, Z_M_Z, left, u)
    copy(w, -1.0, at.right, a, rank)
    copy(w, -1.0, u, a + rank, left)
    reflect(w, ld, at.K, at.tau, rank, n, a, True)
    _unbalanced(w, at, n, rank, at.x)
    copy(w, 1.0, at.x, at.mu, rank)
    return SOLVED


def partition(w: Reals, o: Integers, at: Places, n: int, rank: int) -> int:
    """Independent speeds u and dependent ones v, ``v' = B_vu u' + b'`` [PyMbs (9)-(11)].

    The dependent ones are those that the constraints determine best (Wehage and Haug 1982), by
    pivoting of Y^T: they stand first in the order in which ``Y^T = [L_v; L_u] Q^T``, which gives
    ``B_vu = -(L_u L_v^-1)^T`` and ``b' = -L_v^-T Q^T right``.
    """
    ld, P, b, x, left = at.ld, at.square, at.y, at.x, at.room + rank * at.ld + rank
    for i in range(n):
        for j in range(rank):
            w[P + i * ld + j] = w[at.Y + j * ld + i]
    triangulate(w, o, ld, P, n, rank, at.scales, at.order, 0.0)
    copy(w, 1.0, at.right, b, rank)
    reflect(w, ld, P, at.scales, rank, rank, b, False)
    backward(w, ld, P, rank, b)
    for i in range(rank, n):
        backward(w, ld, P, rank, P + i * ld)  # a row of -B_vu^T
    _project(w, o, at, n, rank)
    if not cholesky(w, ld, left, n - rank, MASS_TOLERANCE):
        return SINGULAR
    for i in range(n):  # force - M b'
        w[x + i] = w[at.force + o[at.order + i]] + dot(w, at.M + i * ld, b, rank)
    for i in range(rank, n):
        w[x + i] -= dot(w, P + i * ld, x, rank)
    forward(w, ld, left, n - rank, x + rank)
    backward(w, ld, left, n - rank, x + rank)
    copy(w, -1.0, b, x, rank)
    for i in range(rank, n):
        add(w, -w[x + i], P + i * ld, x, rank)
    for i in range(n):
        w[at.a + o[at.order + i]] = w[x + i]
    for j in range(rank):
        w[at.mu + j] = dot(w, at.M + j * ld, x, n) - w[at.force + o[at.order + j]]
    forward(w, ld, P, rank, at.mu)
    reflect(w, ld, P, at.scales, rank, rank, at.mu, True)
    return SOLVED


def _project(w: Reals, o: Integers, at: Places, n: int, rank: int) -> None:
    """M in the order of `partition`; ``Z^T M Z`` in the lower right of `room`."""
    ld, P, W = at.ld, at.square, at.room
    for i in range(n):
        for j in range(n):
            w[W + i * ld + j] = w[at.M + o[at.order + i] * ld + o[at.order + j]]
    for i in range(n):
        copy(w, 1.0, W + i * ld, at.M + i * ld, n)
        for k in range(rank, n):
            w[W + i * ld + k] -= dot(w, at.M + i * ld, P + k * ld, rank)
    for i in range(rank, n):
        for j in range(rank):
            add(w, -w[P + i * ld + j], W + j * ld + rank, W + i * ld + rank, n - rank)
