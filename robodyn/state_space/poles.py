"""Poles of a matrix: order, damping ratios, rounding errors, and those that no input reaches."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.tolerances import DERIVATIVE_ERROR, MATRIX_ZERO, UNREACHED_MODE

#: The largest error of a pole, over the norm.
WORST = 1e-3


def order(rates: Array) -> Array:
    """Slow before fast, decaying before growing, upper half plane first."""
    size = np.abs(rates)
    scale = np.where(np.isfinite(size), size, 0.0).max(axis=-1, keepdims=True, initial=0.0)
    step = np.where(scale > 0.0, 1e-9 * scale, 1.0)
    keys = -rates.imag, np.round(rates.real / step), np.round(size / step)
    return np.lexsort(keys, axis=-1)


def damping_ratio(rates: Array) -> Array:
    """``-Re(s) / |s|``; 1 for a pole at zero, and for one that is gone after a sample."""
    size = np.abs(rates)
    there = (size > 0.0) & np.isfinite(size)
    return np.asarray(np.where(there, -rates.real, 1.0) / np.where(there, size, 1.0))


def balanced(A: Array, widest: float = np.inf) -> tuple[Array, Array]:
    """A matrix over states, balanced by scaling its states, and the scales, shape (n,).

    Units are no farther apart than ``widest`` to either side: numbers that are nothing but rounding
    would ask for any.
    """
    from scipy.linalg import matrix_balance

    if not len(A):
        return A, np.ones(0)
    with np.errstate(invalid="ignore"):  # of units that are too large to be permutations, too
        _, (units, _) = matrix_balance(A, permute=False, separate=True)
    middle = 2.0 ** np.round(np.median(np.log2(units)))
    units = np.clip(units, middle / widest, middle * widest)
    return np.asarray(A * units / units[:, None]), np.asarray(units)


def eigenvalues(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, and a bound of the rounding error of each.

    To first order, by its left and right eigenvectors; where a pole is there several times they are
    nearly at right angles, and it is found the less exactly.
    """
    from scipy.linalg import eig

    if not len(A):
        return np.zeros(0, complex), np.zeros(0)
    scaled, units = balanced(A)
    values, left, right = eig(scaled, left=True)
    unsure = (
        DERIVATIVE_ERROR * np.abs(scaled) + MATRIX_ZERO * np.abs(A).max() * units / units[:, None]
    )
    moved = np.einsum("ik,ij,jk->k", np.abs(left), unsure, np.abs(right))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        errors = moved / np.abs(np.einsum("ik,ik->k", left.conj(), right))
    worst = WORST * np.linalg.norm(scaled, 2) + np.linalg.norm(unsure, 2)
    return values, np.fmin(errors, worst)


def untouched(A: Array, B: Array) -> Array:
    """Orthonormal basis W, shape (n, k), of the uncontrollable left subspace: ``W^T B = 0``.

    ``W^T A`` is a combination of the rows of ``W^T``.
    """
    n = len(A)
    size = np.linalg.norm(B, axis=0)
    fresh = B / np.where(size > 0.0, size, 1.0)
    left = np.eye(n)
    largest = 1.0
    for _ in range(n):
        space = left.T @ fresh
        values, sizes, _ = np.linalg.svd(space, full_matrices=True)
        rank = int((sizes > UNREACHED_MODE * largest * max(1.0, space.shape[0])).sum())
        if not rank:
            break
        new, left = left @ values[:, :rank], left @ values[:, rank:]
        fresh, largest = A @ new, float(np.abs(A).max(initial=0.0))
        if not left.shape[1]:
            break
    return left
