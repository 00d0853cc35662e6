"""The rank-revealing solve of a batch of constrained systems as plain loops, which are compiled.

Speeds are scaled by the square roots of the inertias M_ii and rows of K to unit norm, which gives
A. A factorisation with pivoting, ``A[order] = L Y``, gives the rank and orthonormal constraints Y;
and C with ``K = C Y``, of full column rank: with its pseudo-inverse go right sides, so that
contradicting ones are met in the least squares sense, and multipliers, which are those of least
2-norm. Numbers stand in one array; see `compiled_algebra`.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.closed_loops.solvers.compiled_algebra import (
    Integers,
    Reals,
    backward,
    fill,
    forward,
    reflect,
    triangulate,
)
from robodyn.closed_loops.solvers.compiled_methods import (
    MATRICES,
    ORDERS,
    SINGULAR,
    VECTORS,
    Places,
    kkt,
    nullspace,
    partition,
    schur,
)

__all__ = ["METHODS", "NOT_FINITE", "ROW_TOLERANCE", "SIGNATURE", "room", "solve_batch"]

#: Names of the methods; a method is a place among them.
METHODS = ("kkt", "schur", "nullspace", "partition")

#: A row smaller than this part of the largest one is rounding of a zero row.
ROW_TOLERANCE = 1e-12

#: What became of a row, beside `SOLVED`, `AUGMENTED` and `SINGULAR`: something is not finite.
NOT_FINITE = 3


#: Of `solve_batch`, in numba's words.
SIGNATURE = "void(CPointer(i8), f8, CPointer(CPointer(f8)), CPointer(CPointer(i8)))"


def room(nv: int, nc: int) -> tuple[int, int]:
    """How many numbers and integers `solve_batch` needs to work with."""
    ld = nv + nc
    return (MATRICES * ld + VECTORS) * ld, ORDERS * ld


def _places(ld: int) -> Places:
    """Matrices, then vectors, one after the other; and orders."""
    m = ld * ld
    v = MATRICES * m
    return Places(
        ld,
        0, m, 2 * m, 3 * m, 4 * m, 5 * m, 6 * m,
        v, v + ld, v + 2 * ld, v + 3 * ld, v + 4 * ld, v + 5 * ld, v + 6 * ld, v + 7 * ld,
        v + 8 * ld, v + 9 * ld, v + 10 * ld, v + 11 * ld, v + 12 * ld, v + 13 * ld,
        0, ld, 2 * ld,
    )  # fmt: skip


def _all_finite(x: Reals, start: int, count: int) -> bool:
    total = 0.0
    for i in range(start, start + count):
        total += 0.0 * x[i]
    return total == 0.0


def _scale_speeds(M: Reals, M0: int, nv: int, w: Reals, columns: int) -> None:
    """Square roots of the inertias M_ii; a mean one stands in for a massless speed."""
    largest = 0.0
    for i in range(nv):
        largest = max(largest, M[M0 + i * nv + i])
    least, count, total = ROW_TOLERANCE * largest, 0, 0.0
    for i in range(nv):
        inertia = M[M0 + i * nv + i]
        if inertia > least:
            count += 1
            total += math.log(inertia)
    mean = math.exp(total / max(count, 1))
    for i in range(nv):
        inertia = M[M0 + i * nv + i]
        w[columns + i] = math.sqrt(inertia if inertia > least else mean)


def _scale_rows(K: Reals, K0: int, nc: int, nv: int, w: Reals, at: Places) -> None:
    """Rows of unit norm; rounding in zero rows cleared."""
    largest = 0.0
    for i in range(nc):
        square = 0.0
        for j in range(nv):
            value = K[K0 + i * nv + j] / w[at.columns + j]
            w[at.A + i * at.ld + j] = value
            square += value * value
        w[at.rows + i] = math.sqrt(square)
        largest = max(largest, w[at.rows + i])
    for i in range(nc):
        zero = w[at.rows + i] <= ROW_TOLERANCE * largest
        norm = w[at.rows + i] if not zero else largest if largest > 0.0 else 1.0
        w[at.rows + i] = 1.0 / norm
        for j in range(nv):
            w[at.A + i * at.ld + j] = 0.0 if zero else w[at.A + i * at.ld + j] / norm


def _gather(
    M: Reals, M0: int, k: Reals, k0: int, x: Reals, x0: int, free: Integers, n: int, nc: int,
    nv: int, w: Reals, at: Places,
) -> None:  # fmt: skip
    """The scaled system of the free speeds; what the held ones do goes to the right sides."""
    ld = at.ld
    for j in range(nv):
        w[at.held + j] = x[x0 + j] * w[at.columns + j]
    for j in range(n):
        w[at.held + free[j]] = 0.0
    for i in range(nc):
        b = w[at.rows + i] * k[k0 + i]
        terms = abs(b)
        for j in range(nv):
            part = w[at.A + i * ld + j] * w[at.held + j]
            b += part
            terms += abs(part)
        w[at.b + i] = b
        w[at.terms + i] = terms
        for j in range(n):
            w[at.K + i * ld + j] = w[at.A + i * ld + free[j]]
    for i in range(n):
        row, scale = M0 + free[i] * nv, w[at.columns + free[i]]
        force = x[x0 + free[i]]
        for j in range(nv):
            force -= M[row + j] * w[at.held + j] / w[at.columns + j]
        w[at.force + i] = force / scale
        for j in range(n):
            w[at.M + i * ld + j] = M[row + free[j]] / (scale * w[at.columns + free[j]])


def _reduce(w: Reals, o: Integers, at: Places, n: int, nc: int, tolerance: float) -> int:
    """Factor the constraints, take their right sides along; the rank."""
    ld = at.ld
    rank = triangulate(w, o, ld, at.K, nc, n, at.tau, at.K_order, tolerance)
    if rank == nc:
        for i in range(nc):
            w[at.right + i] = w[at.b + o[at.K_order + i]]
        forward(w, ld, at.K, rank, at.right)
        return rank
    for i in range(nc):
        row = o[at.K_order + i]
        w[at.x + i] = w[at.b + row] / w[at.rows + row]
        for j in range(rank):
            part = w[at.K + i * ld + j] / w[at.rows + row] if j <= i else 0.0
            w[at.C + j * ld + i] = part
    triangulate(w, o, ld, at.C, rank, nc, at.C_tau, at.C_order, 0.0)
    reflect(w, ld, at.C, at.C_tau, rank, nc, at.x, False)
    backward(w, ld, at.C, rank, at.x)
    for j in range(rank):
        w[at.right + o[at.C_order + j]] = w[at.x + j]
    return rank


def _make_orthonormal(w: Reals, at: Places, n: int, rank: int) -> None:
    """Y from the reflections."""
    for j in range(rank):
        row = at.Y + j * at.ld
        fill(w, 0.0, row, n)
        w[row + j] = 1.0
        reflect(w, at.ld, at.K, at.tau, rank, n, row, True)


def _multipliers(
    w: Reals, o: Integers, at: Places, nc: int, rank: int, lam: Reals, start: int
) -> None:
    """Multipliers of least 2-norm, of the constraints as given."""
    ld = at.ld
    if rank == nc:
        backward(w, ld, at.K, rank, at.mu)
        for i in range(nc):
            row = o[at.K_order + i]
            lam[start + row] = w[at.rows + row] * w[at.mu + i]
        return
    for j in range(nc):
        w[at.x + j] = w[at.mu + o[at.C_order + j]] if j < rank else 0.0
    forward(w, ld, at.C, rank, at.x)
    reflect(w, ld, at.C, at.C_tau, rank, nc, at.x, True)
    for i in range(nc):
        lam[start + o[at.K_order + i]] = w[at.x + i]


def _relative_residual(w: Reals, at: Places, free: Integers, n: int, nc: int) -> float:
    """Largest ``|K a + k|`` over its terms; accelerations without constraints count too."""
    worst = size = 0.0
    for i in range(nc):
        error, terms = w[at.b + i], w[at.terms + i]
        for j in range(n):
            slope, a = w[at.A + i * at.ld + free[j]], w[at.a + j]
            error += slope * a
            terms += abs(slope) * (abs(a) + abs(w[at.force + j]))
        worst, size = max(worst, abs(error)), max(size, terms)
    return worst / size if size > 0.0 else worst


def _solve_row(
    M: Reals, M0: int, x: Reals, x0: int, K: Reals, K0: int, k: Reals, k0: int,
    free: Integers, n: int, nc: int, nv: int, method: int, tolerance: float,
    w: Reals, o: Integers, at: Places, a: Reals, a0: int, lam: Reals, lam0: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Solve one row of the batch; what became of it, rank and residual."""
    finite = _all_finite(M, M0, nv * nv) and _all_finite(x, x0, nv)
    if not (finite and _all_finite(K, K0, nc * nv) and _all_finite(k, k0, nc)):
        return NOT_FINITE, 0, 0.0
    _scale_speeds(M, M0, nv, w, at.columns)
    _scale_rows(K, K0, nc, nv, w, at)
    _gather(M, M0, k, k0, x, x0, free, n, nc, nv, w, at)
    rank = _reduce(w, o, at, n, nc, tolerance)
    if method != 2:
        _make_orthonormal(w, at, n, rank)
    if method == 0:
        status = kkt(w, at, n, rank)
    elif method == 1:
        status = schur(w, o, at, n, rank)
    elif method == 2:
        status = nullspace(w, at, n, rank)
    else:
        status = partition(w, o, at, n, rank)
    if status == SINGULAR:
        return status, rank, 0.0
    for j in range(nv):
        a[a0 + j] = x[x0 + j]
    for j in range(n):
        a[a0 + free[j]] = w[at.a + j] / w[at.columns + free[j]]
    residual = _relative_residual(w, at, free, n, nc)
    _multipliers(w, o, at, nc, rank, lam, lam0)
    return status, rank, residual


def solve_batch(sizes: Any, tolerance: float, reals: Any, integers: Any) -> None:
    """Solve all rows of a batch.

    Parameters
    ----------
    sizes : pointer to integers
        Rows; nv; nc; number of free speeds; method; distances of the rows of M, x, K and k, zero
        for one that serves all.
    tolerance : float
        For the rank.
    reals : pointer to pointers to numbers
        In: M (nv, nv); x (nv), generalised forces of free speeds and accelerations of the others;
        K (nc, nv); k (nc). Out: accelerations (nv), multipliers (nc), residual. Room to work.
    integers : pointer to pointers to integers
        In: the free speeds. Out: what became of a row, and its rank. Room to work.
    """
    M, x, K, k, a, lam, residual, w = (
        reals[0], reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7],
    )  # fmt: skip
    free, status, rank, o = integers[0], integers[1], integers[2], integers[3]
    nv, nc = sizes[1], sizes[2]
    at = _places(nv + nc)
    for i in range(sizes[0]):
        status[i], rank[i], residual[i] = _solve_row(
            M, i * sizes[5], x, i * sizes[6], K, i * sizes[7], k, i * sizes[8],
            free, sizes[3], nc, nv, sizes[4], tolerance, w, o, at, a, i * nv, lam, i * nc,
        )  # fmt: skip
