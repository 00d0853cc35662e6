"""Mechanisms with loops of which some speeds are controlled: Wittenburg's 5.2.6.4 with 5.3."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked
from robodyn.closed_loops.solvers.decomposition import Decomposition, decompose, groups
from robodyn.closed_loops.solvers.scaling import Scaled, flat, scaled, speed_set
from robodyn.closed_loops.solvers.solve import constrained_accelerations
from robodyn.errors import ActuationError
from robodyn.literals import ConstraintMethod
from robodyn.results import HybridDynamics
from robodyn.tolerances import ACTUATION_RANK, CONSTRAINT_RANK, CONTROLLED_ACCELERATION, ZERO_ROW


def constrained_hybrid(
    M: ArrayLike,
    h: ArrayLike,
    K: ArrayLike,
    k: ArrayLike,
    controlled: ArrayLike,
    a_controlled: ArrayLike,
    tau_free: ArrayLike,
    *,
    method: ConstraintMethod = "auto",
    tolerance: float = CONTROLLED_ACCELERATION,
) -> HybridDynamics:
    """Solve ``M a + h = tau + K^T lam``, ``K a = -k`` with mixed unknowns.

    Hybrid dynamics with loops [Wittenburg 1977, (5.100), (5.101) with (5.191), (5.197)]. With c
    for controlled and f for free speeds,

        M_ff a_f = tau_f - h_f - M_fc a_c + K_f^T lam,    K_f a_f = -(k + K_c a_c)
        tau_c = M_cf a_f + M_cc a_c + h_c - K_c^T lam

    Where more speeds are controlled than there are motions, the tau_c of least 2-norm is taken,
    and then the lam of least 2-norm.

    M (..., nv, nv)
    h (..., nv)
    K (..., nc, nv)
    k (..., nc)
    controlled (m,): Indices of controlled speeds, or a mask (nv,).
    a_controlled (..., m): Their accelerations, in ascending order of the indices.
    tau_free (..., nv - m): Generalised forces of the others, in ascending order; zero for passive
        joints.
    method: As in `constrained_accelerations`.
    tolerance: For controlled accelerations that the loops tie to each other.
    Returns a (..., nv), tau (..., nv), multipliers (..., nc): All, given and solved for.
    Raises ActuationError: If controlled accelerations contradict each other; ``.direction`` (nv,)
        holds the coefficients of the sum over them that the loops fix.
    Raises SingularError: If the free speeds have no inertia on the motions left to them.
    """
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    c = speed_set("controlled", controlled, nv)
    f = np.setdiff1d(np.arange(nv), c)
    size, free = (np.linalg.norm(x, axis=-1, keepdims=True) for x in (K, K[..., f]))
    K = np.where(free <= ZERO_ROW * size, np.where(np.isin(np.arange(nv), f), 0.0, K), K)
    batch, (M, h, K, k, a_c, tau_f) = flat(
        (checked("M", M, nv, nv), 2),
        (checked("h", h, nv), 1),
        (K, 2),
        (checked("k", k, nc), 1),
        (checked("a_controlled", a_controlled, len(c)), 1),
        (checked("tau_free", tau_free, len(f)), 1),
    )
    whole = scaled(K, M)
    parts = decompose(whole.restricted(f), CONSTRAINT_RANK)
    force = tau_f - h[:, f] - _mul(M[:, f[:, None], c], a_c)
    _check_controlled(whole, parts, c, a_c, force, k, tolerance)
    mixed = np.zeros(h.shape)
    mixed[:, c], mixed[:, f] = a_c, tau_f - h[:, f]
    a, lam, *_ = constrained_accelerations(M, mixed, K, k, method, free=f)

    tau = np.zeros(h.shape)
    tau[:, f] = tau_f
    tau_c = (_mul(M, a) + h)[:, c] - _mul(np.swapaxes(K[:, :, c], -1, -2), lam)
    tau[:, c], lam = _least_torques(whole, parts, K[:, :, c], c, tau_c, lam)
    shapes = (*batch, nv), (*batch, nv), (*batch, nc)
    return HybridDynamics(*(x.reshape(n) for x, n in zip((a, tau, lam), shapes, strict=True)))


def _mul(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _ties(
    whole: Scaled, parts: Decomposition, c: Array, at: Array, rank: int
) -> tuple[Array, Array, Array, Array]:
    """What the loops say about controlled speeds alone: ``N^T K_c`` with ``N^T K_f = 0``.

    Returns N (n, nc, m) of scaled rows and the singular value decomposition of ``N^T K_c``.
    """
    N = parts.U[at, :, rank:]
    tie = np.swapaxes(N, -1, -2) @ whole.matrix[at][:, :, c]
    if not tie.size:
        n, rows, columns = tie.shape
        return N, np.zeros((n, rows, 0)), np.zeros((n, 0)), np.zeros((n, 0, columns))
    U, values, Vt = np.linalg.svd(tie, full_matrices=False)
    return N, U, np.where(values > CONSTRAINT_RANK, values, 0.0), Vt


def _check_controlled(
    whole: Scaled,
    parts: Decomposition,
    c: Array,
    a_c: Array,
    force: Array,
    k: Array,
    tolerance: float,
) -> None:
    """Raise if a tie between controlled accelerations is not satisfied."""
    x = a_c * whole.columns[:, c]
    right = whole.rows * k
    free = np.abs(force / parts.scaled.columns)  # accelerations there would be without loops
    terms = _mul(np.abs(whole.matrix[:, :, c]), np.abs(x)) + np.abs(right)
    terms += _mul(np.abs(parts.scaled.matrix), free)
    size = terms.max(axis=-1, initial=0.0)
    for rank, at in groups(parts.rank):
        N, U, values, Vt = _ties(whole, parts, c, at, rank)
        off = np.einsum("nij,ni->nj", U, np.einsum("nij,ni->nj", N, right[at]))
        off = np.where(values > 0.0, off + values * _mul(Vt, x[at]), 0.0)
        bad = np.linalg.norm(off, axis=-1) > tolerance * size[at]
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            row = int(at[i])
            direction = np.zeros(whole.columns.shape[-1])
            direction[c] = ((off[i] * values[i]) @ Vt[i]) * whole.columns[row, c]
            residual = float(off[i] @ off[i]) / np.abs(direction).max()
            raise _contradiction(direction / np.abs(direction).max(), residual, row, len(k))


def _contradiction(direction: Array, residual: float, row: int, count: int) -> ActuationError:
    terms = [f"{x:+.6g} a[{j}]" for j, x in enumerate(direction) if abs(x) > 1e-9]
    where = f" (row {row} of the batch)" if count > 1 else ""
    return ActuationError(
        f"the controlled accelerations contradict each other{where}: the loops fix "
        f"{' '.join(terms)}, and the given ones miss that by {residual:.6g}; control fewer speeds "
        "or take accelerations from K a = -k",
        direction=direction,
    )


def _least_torques(
    whole: Scaled, parts: Decomposition, K_c: Array, c: Array, tau: Array, lam: Array
) -> tuple[Array, Array]:
    """Add multipliers ``N y`` that free speeds do not feel, so that tau becomes least."""
    tau, lam = tau.copy(), lam.copy()
    for rank, at in groups(parts.rank):
        N, _, tied, _ = _ties(whole, parts, c, at, rank)
        if not tied.size:
            continue
        N, _ = np.linalg.qr(whole.rows[at][:, :, None] * N)
        U, values, Vt = np.linalg.svd(np.swapaxes(K_c[at], -1, -2) @ N, full_matrices=False)
        use = tied > 0.0
        y = np.einsum("nij,ni->nj", U, tau[at])
        y = np.where(use, y, 0.0)
        tau[at] -= _mul(U, y)
        y = y / np.where(use, values, 1.0)
        lam[at] += _mul(N, np.einsum("nij,ni->nj", Vt, y))
    return tau, lam


def actuate(
    g: ArrayLike,
    K: ArrayLike,
    actuated: ArrayLike,
    *,
    scale: float = 0.0,
    tolerance: float = ACTUATION_RANK,
) -> tuple[Array, Array]:
    """Forces of motors that produce a motion, ``tau + K^T lam = g``.

    The motions Z that the loops leave see ``Z^T tau = Z^T g`` [Mufti 1983, (40)]: of all forces of
    motors that satisfy this, those of least 2-norm are taken; lam balances the rest.

    g (..., nv): Generalised force needed, M a + h [N, N m].
    K (..., nc, nv): Constraint Jacobian.
    actuated: Indices of speeds that motors act on, or a mask (nv,); or an actuation matrix, shape
        (..., nv, m), of motors at joints without speeds.
    scale: Size of the forces that cancel in g [N, N m]; what is small beside it is rounding.
    tolerance: Relative to the largest part of g, and to ``scale``.
    Returns tau (..., nv): Generalised forces, zero except at actuated speeds [N, N m].
    Returns multipliers (..., nc): lam of least 2-norm [N, N m].
    Raises ActuationError: If the motors cannot produce g. ``.direction`` (nv,) is a motion that the
        loops allow, in which the motors stand still and g does work.
    """
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    matrix = _matrix(actuated, nv)
    batch, (g, K, B) = flat((checked("g", g, nv), 1), (K, 2), (matrix, 2))
    parts = decompose(scaled(K), CONSTRAINT_RANK)
    tau, lam = np.zeros(g.shape), np.zeros((len(g), nc))
    for rank, at in groups(parts.rank):
        Z = parts.null(at, rank)
        tau[at] = _least_forces_of_motors(Z, g[at], B[at], tolerance)
        rest = g[at] - tau[at]
        missing = np.einsum("nij,ni->nj", Z, rest)
        size = np.maximum(np.abs(g[at]).max(axis=-1, initial=0.0), scale)
        bad = np.linalg.norm(missing, axis=-1) > tolerance * size
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise _cannot(Z[row] @ missing[row], g[at[row]], B[at[row]], int(at[row]), len(g))
        lam[at] = parts.multipliers(at, rank, rest)
    return tau.reshape(*batch, nv), lam.reshape(*batch, nc)


def _matrix(actuated: ArrayLike, nv: int) -> Array:
    """The actuation matrix, which picks speeds where these are given."""
    given = np.asarray(actuated)
    if given.ndim > 1:
        return np.asarray(given, float)
    return np.eye(nv)[:, speed_set("actuated", actuated, nv)]


def _least_forces_of_motors(Z: Array, g: Array, B: Array, tolerance: float) -> Array:
    """``B f`` (n, nv) of the least f with ``Z^T B f = Z^T g``, in the least squares sense."""
    need = np.einsum("nij,ni->nj", Z, g)
    work = np.swapaxes(Z, -1, -2) @ B
    if not work.size:
        return np.zeros(g.shape)
    U, values, Vt = np.linalg.svd(work, full_matrices=False)
    driven = values > tolerance
    inside = np.einsum("nij,ni->nj", U, need)
    inside = np.where(driven, inside / np.where(driven, values, 1.0), 0.0)
    return np.asarray(np.einsum("nij,nkj,nk->ni", B, Vt, inside))


def _cannot(motion: Array, g: Array, B: Array, row: int, count: int) -> ActuationError:
    motors = np.flatnonzero(np.abs(B).any(axis=1))
    direction = motion / np.abs(motion).max()
    shown = ", ".join(
        f"{value:.3g} at speed {j}" for j, value in enumerate(direction) if abs(value) > 1e-6
    )
    where = f" (row {row} of the batch)" if count > 1 else ""
    return ActuationError(
        f"motors at the speeds {motors.tolist()} cannot produce this motion{where}: with them at "
        f"rest the linkage can still move ({shown}), and that direction needs a generalised "
        f"force of {float(direction @ g):.6g}",
        direction=direction,
    )
