"""Weighted least squares of base parameters, with error bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.tolerances import EXCITED_DIRECTION, LEAST_NOISE, NO_FORCE, NOISE_CONVERGED

__all__ = ["Fit", "fit", "hidden"]

#: A parameter counts as unexcited if an unexcited direction has this component along it.
NAMED = 0.1
#: Largest number of iterations of the estimate of the noise.
ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Fit:
    """Weighted least-squares estimate of ``W x = y``, where each row has its own noise.

    Attributes
    ----------
    values : ndarray, shape (r,)
    covariance : ndarray, shape (r, r)
    noise : ndarray, shape (u,)
        Standard deviation of each row.
    """

    values: FloatArray
    covariance: FloatArray
    noise: FloatArray


def hidden(W: FloatArray, scale: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Directions of parameters that the data excite, and parameters that they do not excite.

    Parameters
    ----------
    W : ndarray, shape (n, u, r)
    scale : ndarray, shape (r,)
        Size of each column in a motion of usual speed.

    Returns
    -------
    V : ndarray, shape (r, k)
        Columns are orthogonal where parameters are counted in units of ``1 / scale``.
    unseen : ndarray of bool, shape (r,)
    """
    R = np.linalg.qr((W / scale).reshape(-1, W.shape[-1]), mode="r")
    _, sizes, directions = np.linalg.svd(R)
    full = np.zeros(W.shape[-1])
    full[: len(sizes)] = sizes
    seen = full > EXCITED_DIRECTION * full.max(initial=0.0)
    unseen = np.abs(directions[~seen]).max(axis=0, initial=0.0) > NAMED
    return directions[seen].T / scale[:, None], unseen


def fit(W: FloatArray, y: FloatArray, noise: FloatArray | None, samples: int) -> Fit:
    """Estimate parameters by weighted least squares.

    Parameters
    ----------
    W : ndarray, shape (n, u, r)
        Of full rank.
    y : ndarray, shape (n, u)
    samples : int
        Number of samples that the equations stand for, at least n.
    noise : ndarray, shape (u,), optional
        Standard deviation of each row. Default: that of what is left of the row, less what the
        parameters take up of it, found by repetition.
    """
    if noise is not None:
        return _weighted(W, y, noise)[0]
    sigma = np.maximum(np.sqrt((y**2).sum(axis=0) / samples), NO_FORCE)
    least = LEAST_NOISE * sigma
    found, used = _weighted(W, y, sigma)
    for _ in range(ROUNDS):
        left = y - W @ found.values
        freedom = np.maximum(samples - used, 1.0)
        new = np.maximum(np.sqrt((left**2).sum(axis=0) / freedom), least)
        change = np.abs(new - sigma).max() / new.max()
        sigma = new
        found, used = _weighted(W, y, sigma)
        if change < NOISE_CONVERGED:
            break
    return found


def _weighted(W: FloatArray, y: FloatArray, sigma: FloatArray) -> tuple[Fit, FloatArray]:
    """Estimates, and the number of parameters that each row determines."""
    n, u, r = W.shape
    scaled = (W / sigma[:, None]).reshape(-1, r)
    size = np.linalg.norm(scaled, axis=0)
    Q, R = np.linalg.qr(scaled / size)
    values = np.linalg.solve(R, Q.T @ (y / sigma).ravel()) / size
    inverse = np.linalg.solve(R, np.eye(r)) / size[:, None]
    used = (Q**2).sum(axis=1).reshape(n, u).sum(axis=0)
    return Fit(values, inverse @ inverse.T, sigma), used
