"""Physically consistent parameters nearest to an estimate.

What is minimised is half the sum of squares of weighted forces that are left, and ``prior`` times
the divergence from described parameters::

    d(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4        of a body's pseudo-inertia P
    d(x || x0) = x/x0 - log(x/x0) - 1                      of what is a positive number

It is convex, zero at the description, and infinite where something stops being possible; for bodies
it does not depend on the frame in which the ten parameters are given [Lee, Wensing and Park 2020].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import ConvergenceWarning
from robodyn.identification.bodies.pseudo_inertia import BASIS, matrix
from robodyn.tolerances import IDENTIFICATION_CONVERGED, IDENTIFICATION_ROUNDING

#: Largest number of Newton steps for one weight of the prior, and the factor between weights.
STEPS, LIGHTER = 200, 0.1
#: Half the sum of squared residuals, in units of the noise, that a search which ends may leave.
MISFIT = 10.0
#: Line search: sufficient decrease, as a fraction of the slope, and shortening factor.
ARMIJO, SHORTER = 1e-4, 0.5


@dataclass(frozen=True, eq=False)
class UnknownInertia:
    """Indices of the parameters of a body among the unknowns.

    at (k,): Which of the unknowns are its own.
    which (k,): Which of its ten these are.
    reference (10,): All ten as described, of a body that there can be.
    """

    at: NDArray[np.intp]
    which: NDArray[np.intp]
    reference: FloatArray


def nearest_possible(
    W: FloatArray,
    y: FloatArray,
    bodies: Sequence[UnknownInertia],
    positive: NDArray[np.intp],
    start: FloatArray,
    prior: float,
) -> tuple[FloatArray, bool]:
    """Unknowns x that minimise ``|W x - y|^2 / 2 + prior * divergence``, and whether they do.

    ``W`` and ``y``, shape (m, k) and (m,), are in units of the noise. Unknowns of the indices
    ``positive`` are positive numbers. The search begins at ``start``, shape (k,), to which positive
    numbers are compared.

    Notes
    -----
    Newton's method with halved steps, for a weight of the prior that falls to the one asked for, so
    that no search begins next to what is impossible. The function is convex: it has one minimum.
    """
    problem = _Problem(W, y, bodies, positive, start)
    x, weight = start, max(prior, problem.left(start))
    while weight > prior:
        x, _ = problem.minimum(x, weight)
        weight *= LIGHTER
    x, found = problem.minimum(x, prior)
    return x, found or problem.left(x) <= MISFIT


def warn_of_unfinished_search() -> None:
    """Warn that a search has ended before its goal."""
    message = (
        "the search for bodies that can exist ends before it is at its goal: parameters do not fit "
        "the base parameters, which are right. Give a larger prior, or a description or guess "
        "nearer to what is measured"
    )
    warn(ConvergenceWarning(message))


class _Problem:
    """The objective as a function of the unknowns and the weight of the prior."""

    def __init__(
        self,
        W: FloatArray,
        y: FloatArray,
        bodies: Sequence[UnknownInertia],
        positive: NDArray[np.intp],
        reference: FloatArray,
    ) -> None:
        Q, self._R = np.linalg.qr(W)
        self._z, self._H = Q.T @ y, self._R.T @ self._R
        self._bodies, self._positive = bodies, positive
        self._x0 = reference[positive]
        self._inverses = [np.linalg.inv(matrix(body.reference)) for body in bodies]

    def left(self, x: FloatArray) -> float:
        """Half the sum of squared residuals of the data."""
        return 0.5 * float(((self._R @ x - self._z) ** 2).sum())

    def minimum(self, x: FloatArray, weight: float) -> tuple[FloatArray, bool]:
        """Minimise the objective, from a feasible point; and whether that is done."""
        rounding = IDENTIFICATION_ROUNDING * float(self._z @ self._z)
        small = IDENTIFICATION_CONVERGED * weight + rounding
        for _ in range(STEPS):
            g, H = self._slopes(x, weight)
            step = _newton(g, H)
            if step is None:
                return x, False  # bodies without volume are so near that rounding hides the way on
            slope = float(g @ step)
            if -slope <= small:  # it is no less than g^2 / H of any unknown, but for rounding
                most = np.abs(g / np.sqrt(np.diag(H))).max(initial=0.0)
                return x, bool(most <= math.sqrt(2.0 * small))
            x = self._along(x, step, slope, weight)
        return x, False

    def _divergence(self, x: FloatArray) -> float:
        """Divergence from the reference, up to a constant; infinite if x is not feasible."""
        if (x[self._positive] <= 0.0).any():
            return np.inf
        ratio = x[self._positive] / self._x0
        total = float((ratio - np.log(ratio)).sum())
        for body, inverse in zip(self._bodies, self._inverses, strict=True):
            P = _of_body(body, x)
            if np.linalg.eigvalsh(P)[0] <= 0.0:
                return np.inf
            total += float(np.trace(inverse @ P)) - float(np.linalg.slogdet(P)[1])
        return total

    def _slopes(self, x: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian of the objective."""
        g, H, own = self._R.T @ (self._R @ x - self._z), self._H.copy(), self._positive
        g[own] += weight * (1.0 / self._x0 - 1.0 / x[own])
        H[own, own] += weight / x[own] ** 2
        for body, inverse in zip(self._bodies, self._inverses, strict=True):
            E, now = BASIS[body.which], np.linalg.inv(_of_body(body, x))
            g[body.at] += weight * np.einsum("kij,ji->k", E, inverse - now)
            bent = now @ E
            H[np.ix_(body.at, body.at)] += weight * np.einsum("kab,lba->kl", bent, bent)
        return g, H

    def _along(self, x: FloatArray, step: FloatArray, slope: float, weight: float) -> FloatArray:
        """Line search along a step, which is shortened, or lengthened as long as that is better."""

        def objective(part: float) -> float:
            new = x + part * step
            there = self._divergence(new)
            return self.left(new) + weight * there if there < np.inf else np.inf

        now, part = objective(0.0), 1.0
        slack = 1e-13 * abs(now)
        while part > 1e-12:
            there = objective(part)
            if there <= now + ARMIJO * part * slope + slack:
                break
            part *= SHORTER
        else:
            return x  # rounding lets it fall no further
        while part >= 1.0 and (farther := objective(2.0 * part)) < there - slack:
            part, there = 2.0 * part, farther
        return np.asarray(x + part * step)


def _newton(g: FloatArray, H: FloatArray) -> FloatArray | None:
    """Newton's step; ``None`` if the Hessian is singular up to rounding."""
    own = np.diag(H)
    if not (np.isfinite(H).all() and (own > 0.0).all()):
        return None
    size = 1.0 / np.sqrt(own)
    try:
        step = -size * np.linalg.solve(H * np.outer(size, size), size * g)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(step) if np.isfinite(step).all() else None


def _of_body(body: UnknownInertia, x: FloatArray) -> FloatArray:
    parameters = body.reference.copy()
    parameters[body.which] = x[body.at]
    return matrix(parameters)
