"""Flattened and scaled arrays: what all solvers of the package start from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import JACOBIAN_ROUNDING, SMALL_ROW, ZERO_ROW


def flat(*arrays: tuple[Array, int]) -> tuple[tuple[int, ...], list[Array]]:
    """Broadcast the leading axes of arrays together and make one axis of them.

    *arrays: An array and the number of its own last axes.
    Returns batch: The common leading axes.
    Returns flat (n, ...)
    """
    leading = [array.shape[: array.ndim - own] for array, own in arrays]
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        raise ShapeError(
            f"the leading axes {leading} do not broadcast together", name="arguments", given=leading
        ) from None
    result = []
    for array, own in arrays:
        tail = array.shape[array.ndim - own :]
        whole = np.broadcast_to(array, (*batch, *tail))
        result.append(whole.reshape((int(np.prod(batch)), *tail)))
    return batch, result


def speed_set(name: str, indices: ArrayLike, nv: int) -> Array:
    """Indices of speeds, sorted; a mask of length nv will do.

    Raises ShapeError: If one is out of range or named twice.
    """
    given = np.asarray(indices)
    if given.dtype == bool and given.shape == (nv,):
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, int)
    right = given.ndim == 1 and given.dtype.kind in "iu"
    if (
        not right
        or len(set(given.tolist())) < given.size
        or not ((given >= 0) & (given < nv)).all()
    ):
        raise ShapeError(
            f"{name} must be different indices of speeds, 0 to {nv - 1}, or a mask of shape "
            f"({nv},); given: {given.tolist()}",
            name=name,
            given=given.tolist(),
        )
    return np.sort(given).astype(int)


@dataclass(frozen=True, eq=False)
class Scaled:
    """Constraint Jacobians without units.

    Rows in m and rad stand beside each other, and so do speeds in m/s and rad/s; only after
    scaling does the size of a singular value mean something.

    matrix (n, nc, nv): ``rows * K / columns``: rows of unit norm, small ones less; rounding in zero
        rows cleared.
    rows (n, nc)
    columns (n, nv): Square roots of the inertias M_ii, or ones.
    """

    matrix: Array
    rows: Array
    columns: Array

    def restricted(self, speeds: Sequence[int] | Array) -> Scaled:
        """The columns of some speeds, in the same scaling."""
        return Scaled(self.matrix[:, :, speeds], self.rows, self.columns[:, speeds])


def column_scale(M: Array) -> Array:
    """Square roots of the inertias M_ii (n, nv); a mean one stands in for a massless speed."""
    inertia = np.maximum(np.diagonal(M, axis1=-2, axis2=-1), 0.0)
    if not inertia.shape[-1]:
        return np.ones(inertia.shape)
    heavy = inertia > ZERO_ROW * inertia.max(axis=-1, keepdims=True)
    count = np.maximum(heavy.sum(axis=-1, keepdims=True), 1)
    mean = np.exp(np.log(np.where(heavy, inertia, 1.0)).sum(axis=-1, keepdims=True) / count)
    return np.asarray(np.sqrt(np.where(heavy, inertia, mean)))


def row_lengths(norms: Array, small: float = SMALL_ROW) -> Array:
    """Lengths (..., nc) that rows with these norms are compared with; see `SMALL_ROW`."""
    largest = norms.max(axis=-1, keepdims=True, initial=0.0)
    largest = np.where(largest > 0.0, largest, 1.0)
    return np.where(norms > ZERO_ROW * largest, np.maximum(norms, small * largest), largest)


def scaled(K: Array, M: Array | None = None) -> Scaled:
    """Scale columns by the inertias, rows to unit norm, small ones to less.

    K (n, nc, nv)
    M (n, nv, nv), optional
    """
    n, nc, nv = K.shape
    columns = np.ones((n, nv)) if M is None else column_scale(M)
    inner = K / columns[:, None, :]
    norms = np.linalg.norm(inner, axis=-1)
    zero = norms <= ZERO_ROW * norms.max(axis=-1, keepdims=True, initial=0.0)
    zero |= np.abs(K).max(axis=-1, initial=0.0) < JACOBIAN_ROUNDING
    rows = 1.0 / row_lengths(norms)
    matrix = np.where(zero[..., None], 0.0, rows[..., None] * inner)
    return Scaled(matrix, rows.reshape(n, nc), columns)
