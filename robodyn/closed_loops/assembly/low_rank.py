"""Least squares of large matrices of low rank, on one core.

BLAS would take all cores for the whole matrix, which spend most of the time waiting for one
another. It takes one for some rows.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.tolerances import NEGLIGIBLE_NOISE

#: Rows that are multiplied at once.
ROWS = 8


def least_norm(A: Array, b: Array, noise: float) -> Array:
    """The x of least norm that comes nearest to ``A x = b``.

    Singular values of A (m, n) below the part ``noise`` of the largest count as zero.
    """
    small = NEGLIGIBLE_NOISE * noise * np.abs(A).max(initial=0.0)
    V = _row_space(A, small)
    C = np.concatenate([rows @ V.T for rows in _parts(A)])
    U = _row_space(C.T, small)
    core = np.concatenate([rows @ C for rows in _parts(U)])
    found = np.linalg.lstsq(core, np.einsum("ki,i->k", U, b), rcond=noise)[0]
    return np.asarray(np.einsum("kj,k->j", V, found))


def _row_space(A: Array, small: float) -> Array:
    """Orthonormal rows (rank, n) that span those of A (m, n), but for parts that are small."""
    found = np.zeros((0, A.shape[1]))
    for rows in _parts(A):
        rows = rows - (rows @ found.T) @ found
        if np.abs(rows).max(initial=0.0) > small:
            _, sizes, new = np.linalg.svd(rows, full_matrices=False)
            new = new[sizes > small]
            new -= (new @ found.T) @ found  # twice is enough (Kahan, Parlett)
            found = np.concatenate([found, np.linalg.qr(new.T)[0].T])
    return found


def _parts(A: Array) -> list[Array]:
    return np.array_split(A, max(1, len(A) // ROWS))
