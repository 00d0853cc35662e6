"""Four ways to solve one quadratic programme: Gauss's principle of least constraint [Mufti 1983].

Each takes a batch of full-rank systems

    M a = force + K^T mu,    K a = -k                                       [Mufti (10)]

and returns accelerations and multipliers. M has unit diagonal and K rows of about unit norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.constraints.decomposition import pivots

__all__ = ["MASS_TOLERANCE", "METHODS", "cholesky", "is_definite"]

Array = NDArray[Any]
Method = Callable[[Array, Array, Array, Array], tuple[Array, Array]]

#: Scaled inertias (at most nv, 1 for a single speed) below this are rounding of zero.
MASS_TOLERANCE = 1e-13


def _t(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _mul(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _solve(A: Array, b: Array) -> Array:
    return np.linalg.solve(A, b[..., None])[..., 0]


def is_definite(M: Array) -> Array:
    """Whether each of a batch of scaled symmetric matrices is positive definite, (n,) bool."""
    if not M.shape[-1]:
        return np.ones(M.shape[0], bool)
    return np.asarray(np.linalg.eigvalsh(M)[:, 0] > MASS_TOLERANCE)


def cholesky(M: Array) -> Array | None:
    """Lower Cholesky factors (n, nv, nv), or None if one of the matrices is as good as singular."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    pivot = np.diagonal(L, axis1=-2, axis2=-1) ** 2
    return L if pivot.min(initial=1.0) > MASS_TOLERANCE else None


def kkt(M: Array, force: Array, K: Array, k: Array) -> tuple[Array, Array]:
    """Solve the symmetric indefinite system ``[M K^T; K 0] [a; -mu] = [force; -k]``, (10)."""
    n, rank, nv = K.shape
    whole = np.zeros((n, nv + rank, nv + rank))
    whole[:, :nv, :nv] = M
    whole[:, nv:, :nv] = K
    whole[:, :nv, nv:] = _t(K)
    x = _solve(whole, np.concatenate([force, -k], axis=-1))
    return x[:, :nv], -x[:, nv:]


def schur(M: Array, force: Array, K: Array, k: Array) -> tuple[Array, Array]:
    """Forces first, ``K M^-1 K^T mu = -(k + K M^-1 force)`` [Mufti (14); Wittenburg (5.203)].

    With ``M = L L^T`` and ``L^-1 K^T = Q R`` the matrix is ``R^T R`` and is never formed
    [Mufti (A-5)-(A-7)]. Massless speeds get inertia by augmentation: ``M + K^T K`` with
    ``force - K^T k`` has the same solution [Mufti App.].
    """
    L = cholesky(M)
    if L is None:
        force = force - _mul(_t(K), k)
        L = np.linalg.cholesky(M + _t(K) @ K)
    w = _solve(L, force)
    Q, R = np.linalg.qr(np.linalg.solve(L, _t(K)))
    inside = -_solve(_t(R), k)  # part of L^T a in the range of Q
    mu = _solve(R, inside - _mul(_t(Q), w))
    a = _solve(_t(L), w + _mul(Q, inside - _mul(_t(Q), w)))
    return a, mu


def nullspace(M: Array, force: Array, K: Array, k: Array) -> tuple[Array, Array]:
    """Motions that the constraints leave, ``Z^T M Z u = Z^T (force - M a_p)`` [Mufti (40), (A-2)].

    ``K^T = [Y Z] [R; 0]`` gives Z, the particular solution ``a_p = -Y R^-T k`` and the multipliers
    ``mu = R^-1 Y^T (M a - force)``.
    """
    rank = K.shape[1]
    Q, R = np.linalg.qr(_t(K), mode="complete")
    Y, Z, R = Q[:, :, :rank], Q[:, :, rank:], R[:, :rank, :]
    a = -_mul(Y, _solve(_t(R), k))
    u = _solve(_t(Z) @ M @ Z, _mul(_t(Z), force - _mul(M, a)))
    a = a + _mul(Z, u)
    return a, _solve(R, _mul(_t(Y), _mul(M, a) - force))


def partition(M: Array, force: Array, K: Array, k: Array) -> tuple[Array, Array]:
    """Independent speeds u and dependent ones v, ``v' = B_vu u' + b'`` [PyMbs (9)-(11)].

    The dependent ones are those that the constraints determine best (Wehage and Haug 1982), by
    pivoting of K.
    """
    n, rank, nv = K.shape
    order = np.argsort(_independent_first(K), axis=-1, kind="stable")
    at = np.arange(n)[:, None]
    M = M[at[:, :, None], order[:, :, None], order[:, None, :]]
    K = np.take_along_axis(K, order[:, None, :], axis=-1)
    force = force[at, order]
    dof = nv - rank
    Kv = K[:, :, dof:]
    Z = np.zeros((n, nv, dof))
    Z[:, :dof] = np.eye(dof)
    Z[:, dof:] = -np.linalg.solve(Kv, K[:, :, :dof])  # B_vu
    a = np.zeros((n, nv))
    a[:, dof:] = -_solve(Kv, k)  # b'
    a = a + _mul(Z, _solve(_t(Z) @ M @ Z, _mul(_t(Z), force - _mul(M, a))))
    mu = _solve(_t(Kv), (_mul(M, a) - force)[:, dof:])
    result = np.empty_like(a)
    result[at, order] = a
    return result, mu


def _independent_first(K: Array) -> Array:
    """0 for independent and 1 for dependent speeds, (n, nv)."""
    n, rank, nv = K.shape
    dependent = np.zeros((n, nv), int)
    dependent[np.arange(n)[:, None], pivots(K, rank)] = 1
    return dependent


METHODS: dict[str, Method] = {
    "kkt": kkt,
    "schur": schur,
    "nullspace": nullspace,
    "partition": partition,
}
