"""Weighted least squares of base parameters, with error bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.identification.estimation.equations import CondensedEquations
from robodyn.tolerances import (
    BALANCED_TERMS,
    EXCITED_DIRECTION,
    LEAST_NOISE,
    NO_FORCE,
    NOISE_CONVERGED,
    ROUNDED_EQUATION,
    UNEXPLAINED_FORCE,
)

#: A parameter counts as unexcited if an unexcited direction has this component along it.
NAMED = 0.1
#: Largest number of iterations of the estimate of the noise.
ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Fit:
    """Weighted least-squares estimate of ``W x = y``, where each row has its own noise.

    values (r,)
    covariance (r, r)
    noise (u,): Standard deviation of each row.
    silent (u,): Rows without a force above the noise, though their terms are larger than it.
    """

    values: FloatArray
    covariance: FloatArray
    noise: FloatArray
    silent: NDArray[np.bool_]


def hidden(W: FloatArray, scale: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Directions of parameters that the data excite, and parameters that they do not excite.

    W (n, u, r)
    scale (r,): Size of each column in a motion of usual speed.
    Returns V (r, k): Columns are orthogonal where parameters are counted in units of ``1 / scale``.
    Returns unseen (r,)
    """
    R = np.linalg.qr((W / scale).reshape(-1, W.shape[-1]), mode="r")
    _, sizes, directions = np.linalg.svd(R)
    full = np.zeros(W.shape[-1])
    full[: len(sizes)] = sizes
    seen = full > EXCITED_DIRECTION * full.max(initial=0.0)
    unseen = np.abs(directions[~seen]).max(axis=0, initial=0.0) > NAMED
    return directions[seen].T / scale[:, None], unseen


def fit(
    at: CondensedEquations,
    noise: FloatArray | None,
    described: FloatArray,
    V: FloatArray | None = None,
) -> Fit:
    """Estimate parameters by weighted least squares.

    ``noise``, shape (u,), is the standard deviation of each row. By default it is that of what is
    left of the row, less what the parameters take up of it, found by repetition. ``described``,
    shape (r,), are the values of the description, which say how large the terms of a row without
    forces are. ``V``, shape (r, k), are directions in which parameters may differ from the
    description, such that ``W V`` has full rank, by default all.
    """
    W, origin = at.W, 0.0 * described if V is None else described
    A, b = W if V is None else W @ V, at.y - W @ origin

    def solved(sigma: FloatArray) -> tuple[_Rows, Fit]:
        x, covariance, used = _weighted(A, b, sigma)
        values, freedom = x, np.maximum(at.samples - used, 1.0)
        if V is not None:
            values, covariance = origin + V @ x, V @ covariance @ V.T
        rows = _Rows(at.given, terms, _terms(at, values), _size(b - A @ x, freedom))
        return rows, Fit(values, covariance, sigma, rows.silent)

    terms = _terms(at, described)
    if noise is not None:
        return solved(noise)[1]
    sigma = np.maximum(
        _size(at.y, at.samples), np.where(terms > BALANCED_TERMS * at.given, terms, 0.0)
    )
    sigma = np.maximum(sigma, NO_FORCE)
    least = LEAST_NOISE * sigma
    rows, found = solved(sigma)
    for _ in range(ROUNDS):
        new = np.maximum(rows.noise, least)
        change = np.abs(new - sigma).max() / new.max()
        sigma = new
        rows, found = solved(sigma)
        if change < NOISE_CONVERGED:
            break
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Root mean squares of each row, shape (u,) [N m, N].

    ``given`` are forces that are measured or known, ``described`` and ``terms`` the terms ``W_j
    x_j`` by the description and by an estimate, and ``left`` is what that estimate leaves of the
    force.
    """

    given: FloatArray
    described: FloatArray
    terms: FloatArray
    left: FloatArray

    @property
    def balanced(self) -> NDArray[np.bool_]:
        """Rows of which the terms balance one another, with no other force above the noise.

        What is left of them is in proportion to the parameters, which it draws toward zero.
        """
        rounding = ROUNDED_EQUATION * self.described
        none = self.given <= np.maximum(UNEXPLAINED_FORCE * self.left, rounding)
        return np.asarray(none & (self.described > BALANCED_TERMS * self.given))

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Balanced rows of which more than rounding is left, or whose terms have vanished."""
        return np.asarray(self.balanced & (self.left >= ROUNDED_EQUATION * self.terms))

    @property
    def noise(self) -> FloatArray:
        """What is left; of balanced rows, what would be left of terms of the described size.

        Otherwise a smaller estimate would leave less, weigh more, and become smaller still.
        """
        ratio = self.described / np.maximum(self.terms, NO_FORCE)
        return np.asarray(self.left * np.where(self.balanced, np.maximum(ratio, 1.0), 1.0))


def _size(x: FloatArray, count: FloatArray | int) -> FloatArray:
    """Root mean square of each row of so many samples, shape (u,)."""
    return np.asarray(np.sqrt((x**2).sum(axis=0) / count))


def _terms(at: CondensedEquations, values: FloatArray) -> FloatArray:
    """Root mean square of the terms of each row, one by one, shape (u,)."""
    return np.asarray(np.sqrt(((at.W * values) ** 2).sum(axis=(0, 2)) / at.samples))


def _weighted(
    W: FloatArray, y: FloatArray, sigma: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimates, their covariance, and the number of parameters that each row determines."""
    n, u, r = W.shape
    scaled = (W / sigma[:, None]).reshape(-1, r)
    size = np.linalg.norm(scaled, axis=0)
    Q, R = np.linalg.qr(scaled / size)
    values = np.linalg.solve(R, Q.T @ (y / sigma).ravel()) / size
    inverse = np.linalg.solve(R, np.eye(r)) / size[:, None]
    used = (Q**2).sum(axis=1).reshape(n, u).sum(axis=0)
    return values, inverse @ inverse.T, used
