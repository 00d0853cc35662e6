"""Jumps of speeds that impulses at joints make, and contacts that can only push [W 6.18].

The impulse `p` along some speeds makes them jump by `A p`, where `A` is the inverse of the mass
that they feel, loops closed and driven joints held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot

__all__ = ["brought_to", "complementary", "responses"]

#: Parts of the greatest number of a problem that count as zero.
ROUNDING = 1e-12


def responses(
    robot: Robot,
    q: FloatArray,
    impulses: FloatArray,
    driven: Sequence[int] = (),
    base: BaseMotion | None = None,
    t: float | None = None,
) -> FloatArray:
    """Jumps of all speeds under generalised impulses, shape (k, nv); driven speeds do not jump."""
    return np.asarray(robot._impacts(t).responses(q, impulses, tuple(driven), base))


def brought_to(
    robot: Robot,
    q: FloatArray,
    v: FloatArray,
    speeds: Sequence[int],
    wanted: FloatArray,
    base: BaseMotion | None = None,
    t: float | None = None,
) -> FloatArray:
    """All speeds after impulses along some have brought these to what is wanted."""
    at = list(speeds)
    gap = wanted - v[at]
    if not gap.any():
        return v
    jumps = responses(robot, q, np.eye(robot.nv)[at], (), base, t)
    v = v + np.linalg.lstsq(jumps[:, at].T, gap, rcond=ROUNDING)[0] @ jumps
    v[at] = wanted
    return v


def complementary(A: FloatArray, b: FloatArray) -> FloatArray:
    """Pushes ``p >= 0`` with ``A p + b >= 0`` of which each is zero where the other is not.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric, not negative; it may be singular where ``b`` is in its range.
    b : ndarray, shape (n,)

    Returns
    -------
    p : ndarray, shape (n,)

    Notes
    -----
    They make ``p A p / 2 + b p`` least. Contacts join those that push one by one, the worst first;
    whichever would pull leaves them [Lawson, Hanson 1974].
    """
    p, pushes = np.zeros(len(b)), np.zeros(len(b), bool)
    least = ROUNDING * np.abs(b).max(initial=0.0)
    for _ in range(10 * len(b) + 10):
        rest = np.where(pushes, np.inf, A @ p + b)
        if not rest.min(initial=np.inf) < -least:
            break
        pushes[rest.argmin()] = True
        while pushes.any():
            own = np.flatnonzero(pushes)
            wanted = np.linalg.lstsq(A[np.ix_(own, own)], -b[own], rcond=ROUNDING)[0]
            if (wanted > 0.0).all():
                p[:] = 0.0
                p[own] = wanted
                break
            falling = wanted <= 0.0
            parts = p[own][falling] / np.maximum(p[own] - wanted, 1e-300)[falling]
            p[own] += parts.min() * (wanted - p[own])
            pushes[own[falling][parts <= parts.min()]] = False
            p[~pushes] = 0.0
    return p
