"""Coordinates of a joint read from the pose of its child, over arrays of poses (..., 4, 4)."""

from __future__ import annotations

import math

import numpy as np

from robodyn.array_types import FloatArray


def turn_about_z(X: FloatArray) -> FloatArray:
    """Angle about z, shape (...) [rad], between -pi and pi."""
    if X.ndim == 2:  # numpy would take ten times as long
        return np.asarray(math.atan2(X[1, 0], X[0, 0]))
    return np.asarray(np.arctan2(X[..., 1, 0], X[..., 0, 0]))


def way_along_z(X: FloatArray) -> FloatArray:
    """Position along z, shape (...) [m]."""
    return np.asarray(X[..., 2, 3])


def angle_between(a: FloatArray, b: FloatArray, axis: FloatArray) -> FloatArray:
    """Angle from ``a`` to ``b`` about a unit axis, shape (...) [rad]; vectors are (..., 3)."""
    sine = np.cross(a, b) @ axis
    cosine = np.sum(a * b, axis=-1) - (a @ axis) * (b @ axis)
    return np.asarray(np.arctan2(sine, cosine))


def quaternion_of(X: FloatArray) -> FloatArray:
    """Rotation as a unit quaternion x, y, z, w with ``w >= 0``, shape (..., 4).

    Of the four ways to read it off the matrix, the one that divides by the largest component.
    """
    if X.ndim == 2 and X.dtype == np.float64:  # numpy would take ten times as long
        return np.array(_quaternion_of_one(X[:3, :3].tolist()))
    R = X[..., :3, :3]
    diagonal = np.stack([R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], axis=-1)
    trace = diagonal.sum(axis=-1)
    # four times the outer product of the quaternion with itself
    Q = np.empty((*R.shape[:-2], 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        Q[..., i, i] = 1.0 + 2.0 * diagonal[..., i] - trace
        Q[..., i, j] = Q[..., j, i] = R[..., i, j] + R[..., j, i]
        Q[..., i, 3] = Q[..., 3, i] = R[..., k, j] - R[..., j, k]
    Q[..., 3, 3] = 1.0 + trace
    largest = np.argmax(np.diagonal(Q, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(Q, largest[..., None, None], axis=-2)[..., 0, :]
    row = np.where(row[..., 3:] < 0.0, -row, row)
    return np.asarray(row / np.linalg.norm(row, axis=-1, keepdims=True))


def _quaternion_of_one(rotation: list[list[float]]) -> list[float]:
    """The same of one matrix, with the same operations."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    trace = xx + yy + zz
    Q = (
        (1.0 + 2.0 * xx - trace, xy + yx, xz + zx, zy - yz),
        (xy + yx, 1.0 + 2.0 * yy - trace, yz + zy, xz - zx),
        (xz + zx, yz + zy, 1.0 + 2.0 * zz - trace, yx - xy),
        (zy - yz, xz - zx, yx - xy, 1.0 + trace),
    )
    x, y, z, w = Q[max(range(4), key=lambda k: Q[k][k])]
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        norm = -norm
    return [x / norm, y / norm, z / norm, w / norm]
