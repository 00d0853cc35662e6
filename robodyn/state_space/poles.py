"""Poles: their order, their damping, and how far rounding may have moved them."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array

__all__ = ["damping_ratio", "eigenvalues", "order"]

#: Relative error of matrices from derivatives, and the largest error of a pole, over their norm.
ROUNDING, WORST = 1e-11, 1e-3


def order(rates: Array) -> Array:
    """Slow before fast, decaying before growing, upper half plane first."""
    size = np.abs(rates)
    scale = size.max(axis=-1, keepdims=True, initial=0.0)
    step = np.where(scale > 0.0, 1e-9 * scale, 1.0)
    keys = -rates.imag, np.round(rates.real / step), np.round(size / step)
    return np.lexsort(keys, axis=-1)


def damping_ratio(rates: Array) -> Array:
    """``-Re(s) / |s|``; 1 for a pole at zero."""
    size = np.abs(rates)
    return np.asarray(np.where(size > 0.0, -rates.real / np.where(size > 0.0, size, 1.0), 1.0))


def eigenvalues(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, and how far rounding may have moved each of them.

    By the angle between left and right eigenvectors; where a pole is there several times they are
    nearly at right angles, and it is found the less exactly.
    """
    from scipy.linalg import eig, matrix_balance

    if not len(A):
        return np.zeros(0, complex), np.zeros(0)
    balanced, _ = matrix_balance(A, permute=False)
    values, left, right = eig(balanced, left=True)
    norm = float(np.linalg.norm(balanced, 2))
    angle = np.abs(np.einsum("ik,ik->k", left.conj(), right))
    with np.errstate(divide="ignore"):
        errors = np.minimum(ROUNDING / angle, WORST) * norm
    return values, errors
