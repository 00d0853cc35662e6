"""The Riccati recursion: the optimal change of forces along a motion, backwards from its end.

Along a motion a change ``z = (x, u)`` of state and forces leads to ``x' = F z`` and costs
``l + l_z z + 1/2 z^T L z``. With the cost to go ``s x + 1/2 x^T S x`` after the step, what follows
costs::

    g = l_z + F^T s        H = L + F^T S F

and is least for ``u = k + K x`` with ``H_uu k = -g_u``, ``H_uu K = -H_ux``; before the step the
cost to go is that of this ``u``. Where forces have limits ``k`` is the best one within them, and
forces that stand at a limit do not move with the state [Tassa, Mansard and Todorov 2014].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray

from .quadratic_cost import Expansion

__all__ = ["Forces", "best_forces"]

#: Passes over the limits of forces; each settles one set of forces that stand at theirs.
PASSES = 20


@dataclass(frozen=True, eq=False)
class Forces:
    """Changes of the forces of a motion.

    Attributes
    ----------
    change : ndarray, shape (n, m)
        Where the state stays.
    gains : ndarray, shape (n, m, 2 nv)
        By changes of the state.
    gain : (float, float)
        What the cost changes by, of the first and second order, for the whole change.
    cost_to_go : ndarray, shape (2 nv, 2 nv)
        Of a change of the state at the start.
    """

    change: FloatArray
    gains: FloatArray
    gain: tuple[float, float]
    cost_to_go: FloatArray


def best_forces(
    F: FloatArray,
    running: Expansion,
    final: Expansion,
    lower: FloatArray,
    upper: FloatArray,
    damping: float = 0.0,
) -> Forces | None:
    """The best change of forces; none where the cost is not convex in them.

    Parameters
    ----------
    F : ndarray, shape (n, 2 nv, 2 nv + m)
        Derivatives of steps by state and forces.
    running : Expansion
        Of n steps.
    final : Expansion
        Of the one state at the end.
    lower, upper : ndarray, shape (n, m)
        How far forces may change.
    damping : float
        Added to the curvature of the cost to go, which keeps states near where they were.
    """
    n, size, width = F.shape
    m = width - size
    change, gains = np.zeros((n, m)), np.zeros((n, m, size))
    s, S = final.slope[0], final.curvature[0]
    damped = damping * (np.swapaxes(F, -1, -2) @ F)[:, size:]
    first = second = 0.0
    for i in range(n - 1, -1, -1):
        step = F[i]
        g = running.slope[i] + s @ step
        H = running.curvature[i] + step.T @ S @ step
        found = _best(H[size:] + damped[i], g[size:], lower[i], upper[i], size)
        if found is None:
            return None
        k, K = change[i], gains[i] = found
        first += float(g[size:] @ k)
        H_k = H[:, size:] @ k
        second += 0.5 * float(k @ H_k[size:])
        pulled = g + H_k
        s = pulled[:size] + pulled[size:] @ K
        by_force = H[size:, :size] + H[size:, size:] @ K
        S = H[:size, :size] + H[:size, size:] @ K + K.T @ by_force
        S = 0.5 * (S + S.T)
    return Forces(change, gains, (first, second), S)


def _best(
    H: FloatArray, g: FloatArray, lower: FloatArray, upper: FloatArray, size: int
) -> tuple[FloatArray, FloatArray] | None:
    """``k`` and ``K`` of a step; none where the cost is not convex in the forces."""
    H_ux, H_uu = H[:, :size], H[:, size:]
    inverse = _inverse(H_uu)
    if inverse is None:
        return None
    k = -(inverse @ g)
    if ((k >= lower) & (k <= upper)).all():
        return k, -(inverse @ H_ux)
    k, free = _within(H_uu, g, lower, upper, np.clip(k, lower, upper))
    K = np.zeros_like(H_ux)
    if free.any():
        K[free] = -np.linalg.solve(H_uu[np.ix_(free, free)], H_ux[free])
    return k, K


def _inverse(H: FloatArray) -> FloatArray | None:
    """The inverse of a positive definite matrix, and none of another one."""
    if len(H) == 1:  # without a call of LAPACK, which takes as long as all the rest
        return 1.0 / H if H[0, 0] > 0.0 else None
    try:
        L = np.linalg.inv(np.linalg.cholesky(H))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(L.T @ L)


def _within(
    H: FloatArray, g: FloatArray, lower: FloatArray, upper: FloatArray, k: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The least of ``g k + 1/2 k^T H k`` within limits, and which forces stand at none.

    Newton's method on the forces that are free, with steps that are cut at the limits and halved
    until the cost falls [Bertsekas 1982].
    """

    def cost(x: FloatArray) -> float:
        return float(g @ x + 0.5 * x @ H @ x)

    free = np.ones(len(k), bool)
    for _ in range(PASSES):
        slope = g + H @ k
        free = ~(((k <= lower) & (slope > 0.0)) | ((k >= upper) & (slope < 0.0)))
        if not free.any():
            break
        newton = np.zeros_like(k)
        newton[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        part, now = 1.0, cost(k)
        while cost(np.clip(k + part * newton, lower, upper)) > now and part > 1e-6:
            part *= 0.5
        moved = np.clip(k + part * newton, lower, upper)
        done = np.allclose(moved, k, rtol=1e-10, atol=1e-14)
        k = moved
        if done:
            break
    return k, free
