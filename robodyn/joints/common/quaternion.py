"""Rotations as unit quaternions x, y, z, w: rates and steps as equations, logarithms of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.coordinates import TINY
from robodyn.symbolic.scalar import Number, cos, sin, sqrt
from robodyn.symbolic.vector import Vec3

__all__ = [
    "angle_of",
    "conjugate",
    "left_jacobian",
    "logarithm",
    "product",
    "quaternion_rates",
    "turned",
]


def quaternion_rates(quat: Sequence[Number], w: Sequence[Number]) -> list[Number]:
    """``quat (w, 0) / 2`` for the angular velocity ``w`` in body axes."""
    axis = Vec3(*quat[:3])
    turning = Vec3(*w)
    rate = turning * quat[3] + axis.cross(turning)
    return [*(rate * 0.5), axis.dot(turning) * -0.5]


def angle_of(w: Vec3) -> Number:
    """Length of a rotation vector, never quite zero."""
    return sqrt(w.dot(w) + TINY)


def turned(quat: Sequence[Number], w: Vec3) -> list[Number]:
    """A quaternion times that of a rotation vector ``w`` in body axes, of unit norm.

    The quaternion of ``w`` is ``(sin(|w|/2) w/|w|, cos(|w|/2))``.
    """
    angle = angle_of(w)
    half = angle * 0.5
    b, b_w = w * (sin(half) / angle), cos(half)
    a, a_w = Vec3(*quat[:3]), quat[3]
    vector = b * a_w + a * b_w + a.cross(b)
    scalar = a_w * b_w - a.dot(b)
    square = vector.dot(vector) + scalar * scalar
    inverse = sqrt(square) / square  # not a number where the square is zero or infinite
    return [*(vector * inverse), scalar * inverse]


def conjugate(quat: FloatArray) -> FloatArray:
    """The inverse rotation, shape (..., 4)."""
    return np.asarray(quat * np.array([-1.0, -1.0, -1.0, 1.0]))


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """One rotation after another, of unit norm, shape (..., 4)."""
    a, b = np.broadcast_arrays(a, b)
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    scalar = a[..., 3] * b[..., 3] - np.sum(a[..., :3] * b[..., :3], axis=-1)
    result = np.concatenate([vector, scalar[..., None]], axis=-1)
    return np.asarray(result / np.linalg.norm(result, axis=-1, keepdims=True))


def logarithm(quat: FloatArray) -> FloatArray:
    """Rotation vector of a rotation, the short way round, shape (..., 3) [rad]."""
    quat = np.where(quat[..., 3:] < 0.0, -quat, quat)
    sine = np.linalg.norm(quat[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quat[..., 3:])
    factor = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return np.asarray(factor * quat[..., :3])


def left_jacobian(w: FloatArray) -> FloatArray:
    """Integral over unit time of the rotation exp(w t), shape (..., 3, 3)."""
    angle = np.linalg.norm(w, axis=-1)[..., None, None]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    b = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    c = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    W = np.zeros((*w.shape[:-1], 3, 3))
    W[..., 0, 1], W[..., 0, 2], W[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    W -= np.swapaxes(W, -1, -2)
    return np.asarray(np.eye(3) + b * W + c * (W @ W))
