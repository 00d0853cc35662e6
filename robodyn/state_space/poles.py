"""Poles: their order, their damping, and how far rounding may have moved them."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array

__all__ = ["balanced", "damping_ratio", "eigenvalues", "order"]

#: What is this small, over the largest number of a matrix, is rounding of derivatives.
NOTHING = 1e-14

#: Relative error of poles that stand alone, and the largest error of a pole, over the norm.
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


def balanced(A: Array) -> tuple[Array, Array]:
    """A matrix over states in units of their own, and these units, shape (n,).

    What is nothing but rounding is taken as zero: units must not make it large.
    """
    from scipy.linalg import matrix_balance

    size = np.abs(A)
    clean = np.where(size > NOTHING * size.max(initial=0.0), A, 0.0)
    found, (units, _) = matrix_balance(clean, permute=False, separate=True)
    return np.asarray(found), np.asarray(units)


def eigenvalues(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, and how far rounding may have moved each of them.

    By the angle between left and right eigenvectors; where a pole is there several times they are
    nearly at right angles, and it is found the less exactly.
    """
    from scipy.linalg import eig

    if not len(A):
        return np.zeros(0, complex), np.zeros(0)
    scaled, _ = balanced(A)
    values, left, right = eig(scaled, left=True)
    norm = float(np.linalg.norm(scaled, 2))
    angle = np.abs(np.einsum("ik,ik->k", left.conj(), right))
    with np.errstate(divide="ignore"):
        errors = np.minimum(ROUNDING / angle, WORST) * norm
    return values, errors
