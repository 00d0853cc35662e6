"""Impulses of several unilateral contacts, as a linear complementarity problem."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.tolerances import COMPLEMENTARITY_ZERO, QUOTIENT_FLOOR, REBOUND_SPEED_ZERO

#: Largest number of rebounds of points that are caught between others.
ROUNDS = 3000


def complementary(A: Array, b: Array) -> Array:
    """Solve the complementarity problem ``p >= 0``, ``A p + b >= 0``, ``p (A p + b) = 0``.

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
    least = COMPLEMENTARITY_ZERO * np.abs(b).max(initial=0.0)
    for _ in range(10 * len(b) + 10):
        rest = np.where(pushes, np.inf, A @ p + b)
        if not rest.min(initial=np.inf) < -least:
            break
        pushes[rest.argmin()] = True
        while pushes.any():
            own = np.flatnonzero(pushes)
            wanted = np.linalg.lstsq(A[np.ix_(own, own)], -b[own], rcond=COMPLEMENTARITY_ZERO)[0]
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


def rebounds(A: Array, u: Array, restitution: float | Array) -> Array:
    """Impulses ``p >= 0`` of points that meet at one instant, shape (n,) [N s].

    Parameters
    ----------
    A : ndarray, shape (n, n) [1/kg]
        Jumps of speeds of parting a unit of impulse.
    u : ndarray, shape (n,) [m/s]
        Speeds of parting, before; negative of those that approach.
    restitution : float or ndarray, shape (n,)

    Notes
    -----
    Speeds afterwards are ``u+ >= -restitution u``, equal where an impulse pushes [Moreau 1988].
    That may send a point that parted towards the other: it rebounds in turn, at the same instant,
    until none approaches. With a restitution of 1 that may never be; then some approach at the end.
    """
    p, least = np.zeros(len(u)), REBOUND_SPEED_ZERO * np.abs(u).max(initial=0.0)
    for _ in range(ROUNDS):
        more = complementary(A, u + restitution * u)
        p, u = p + more, u + A @ more
        if not (more.any() and u.min(initial=0.0) < -least):
            break
    return p


def bounded(A: Array, b: Array, most: Array) -> Array:
    """Forces ``|p| <= most`` that bring ``A p + b`` to zero, or oppose it at their bounds.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric, not negative; it may be singular where ``b`` is in its range.
    b, most : ndarray, shape (n,)

    Returns
    -------
    p : ndarray, shape (n,)

    Notes
    -----
    They make ``p A p / 2 + b p`` least. Where ``A`` is singular others do, too, with the same
    ``A p``.
    """
    p, side = np.zeros(len(b)), np.zeros(len(b), int)
    least = COMPLEMENTARITY_ZERO * np.abs(b).max(initial=0.0)
    for _ in range(10 * len(b) + 10):
        own = np.flatnonzero(side == 0)
        rest = A @ p + b
        if own.size:
            way = np.linalg.lstsq(A[np.ix_(own, own)], -rest[own], rcond=COMPLEMENTARITY_ZERO)[0]
            room = np.where(way > 0.0, most[own] - p[own], most[own] + p[own])
            parts = np.divide(room, np.abs(way), out=np.full(len(own), np.inf), where=way != 0.0)
            if parts.min() < 1.0:
                p[own] += parts.min() * way
                reached = own[parts <= parts.min()]
                side[reached] = np.sign(way[parts <= parts.min()])
                p[reached] = side[reached] * most[reached]
                continue
            p[own] += way
            rest = A @ p + b
        inwards = np.where(side == 0, 0.0, side * rest)
        if not inwards.max(initial=0.0) > least:
            break
        side[inwards.argmax()] = 0
    return p


def evenly_shared(A: Array, b: Array, most: Array) -> Array:
    """Forces that bring ``A p + b`` to zero, the largest of ``|p| / most`` as small as can be.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric, not negative; it may be singular, with ``b`` in its range.
    b, most : ndarray, shape (n,)

    Returns
    -------
    p : ndarray, shape (n,)

    Notes
    -----
    Bounds ``x most`` that are too narrow leave rates ``y = A p + b``, against which all forces
    stand; for any ``y`` in the range of ``A``, ``x`` has to be the power of what they resist over
    ``most |y|`` at least. Bounds that are made so wide again and again reach the least ones in a
    few steps, as forces are linear in them while the same ones are at their bounds. Digits of ``y``
    outside of the range are those of rounding and would ask for more than that.
    """
    sizes, axes = np.linalg.eigh(A)
    found = sizes > COMPLEMENTARITY_ZERO * sizes[-1]
    sizes, reachable = sizes[found], axes[:, found]
    freely = -reachable @ (reachable.T @ b / sizes)
    p, x = np.zeros(len(b)), 0.0
    for _ in range(10 * len(b) + 10):
        y = reachable @ (reachable.T @ (A @ p + b))
        wider = -(freely @ y) / (most @ np.abs(y) + QUOTIENT_FLOOR)
        if not wider > x * (1.0 + COMPLEMENTARITY_ZERO):
            break
        x = wider
        p = bounded(A, b, x * most)
    return p
