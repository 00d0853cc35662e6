"""The nearest parameters that bodies, rotors and friction can have.

What is minimised is half the sum of squares of weighted forces that are left, and ``prior`` times
the divergence from described parameters::

    d(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4        of a body's pseudo-inertia P
    d(x || x0) = x/x0 - log(x/x0) - 1                      of what is a positive number

It is convex, zero at the description, and infinite where something stops being possible; for bodies
it does not depend on the frame in which the ten parameters are given [Lee, Wensing and Park 2020].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.errors import IdentificationError
from robodyn.identification.pseudo_inertia import BASIS, matrix

__all__ = ["Body", "nearest_possible"]

#: Newton steps at most, and the square of a step, in its own measure, that is none.
STEPS, SMALL = 200, 1e-16
#: Part of the slope that a step has to keep, and how much shorter the next one is.
ARMIJO, SHORTER = 1e-4, 0.5


@dataclass(frozen=True, eq=False)
class Body:
    """Where the parameters of a body stand.

    Attributes
    ----------
    at : ndarray of int, shape (k,)
        Which of the unknowns are its own.
    which : ndarray of int, shape (k,)
        Which of its ten these are.
    reference : ndarray, shape (10,)
        All ten as described, of a body that there can be.
    """

    at: NDArray[np.intp]
    which: NDArray[np.intp]
    reference: FloatArray


Cost = Callable[[FloatArray], float]


def nearest_possible(
    W: FloatArray,
    y: FloatArray,
    bodies: Sequence[Body],
    positive: NDArray[np.intp],
    start: FloatArray,
    prior: float,
) -> FloatArray:
    """Unknowns x that minimise ``|W x - y|^2 / 2 + prior * divergence``.

    Parameters
    ----------
    W, y : ndarray, shape (m, k), (m,)
        In units of the noise.
    bodies : sequence of Body
    positive : ndarray of int
        Unknowns that are positive numbers.
    start : ndarray, shape (k,)
        The reference, where the search begins.
    prior : float

    Notes
    -----
    Newton's method with halved steps; the function is convex, so there is one minimum.
    """
    Q, R = np.linalg.qr(W)
    H0, z = R.T @ R, Q.T @ y
    references = [np.linalg.inv(matrix(body.reference)) for body in bodies]
    x = start.copy()

    def cost(x: FloatArray) -> float:
        if (x[positive] <= 0.0).any():
            return np.inf
        total = 0.5 * float(((R @ x - z) ** 2).sum())
        ratio = x[positive] / start[positive]
        total += prior * float((ratio - np.log(ratio)).sum())
        for body, inverse in zip(bodies, references, strict=True):
            P = _of_body(body, x)
            sign, size = np.linalg.slogdet(P)
            if sign <= 0.0 or np.linalg.eigvalsh(P)[0] <= 0.0:
                return np.inf
            total += prior * (float(np.trace(inverse @ P)) - size)
        return float(total)

    for _ in range(STEPS):
        g, H = R.T @ (R @ x - z), H0.copy()
        g[positive] += prior * (1.0 / start[positive] - 1.0 / x[positive])
        H[positive, positive] += prior / x[positive] ** 2
        for body, inverse in zip(bodies, references, strict=True):
            E, now = BASIS[body.which], np.linalg.inv(_of_body(body, x))
            g[body.at] += prior * np.einsum("kij,ji->k", E, inverse - now)
            bent = np.einsum("ab,kbc->kac", now, E)
            H[np.ix_(body.at, body.at)] += prior * np.einsum("kab,lba->kl", bent, bent)
        size = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        step = -size * np.linalg.solve(H * np.outer(size, size), size * g)
        slope = float(g @ step)
        if -slope <= SMALL * max(1.0, float(z @ z)):
            return x
        x = _shortened(cost, x, step, slope)
    return x


def _of_body(body: Body, x: FloatArray) -> FloatArray:
    parameters = body.reference.copy()
    parameters[body.which] = x[body.at]
    return matrix(parameters)


def _shortened(cost: Cost, x: FloatArray, step: FloatArray, slope: float) -> FloatArray:
    """As far along a step as the cost falls with it."""
    now, part = cost(x), 1.0
    slack = 1e-13 * abs(now)
    for _ in range(60):
        if cost(x + part * step) <= now + ARMIJO * part * slope + slack:
            return x + part * step
        part *= SHORTER
    raise IdentificationError("no possible parameters were found near the described ones")
