"""The space of coordinates: differences, limits, random points.

Most coordinates add; orientations do not. ``difference`` is the inverse of ``integrate`` (see
`robodyn.equations.mechanism.coordinate_steps`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.motion.base_motion import rotation_from_quaternion

__all__ = ["Block", "difference", "euclidean", "neutral", "random"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Coordinates of one joint: its kind, and where they stand in q and v."""

    kind: str
    q: slice
    v: slice


def euclidean(blocks: tuple[Block, ...]) -> bool:
    """Whether all coordinates add."""
    return all(block.kind not in ("spherical", "floating", "planar") for block in blocks)


def neutral(blocks: tuple[Block, ...], nq: int) -> Array:
    """Zero position, shape (nq,)."""
    q = np.zeros(nq)
    for block in blocks:
        if block.kind in ("spherical", "floating"):
            q[block.q.stop - 1] = 1.0
    return q


def random(
    blocks: tuple[Block, ...], lower: Array, upper: Array, rng: np.random.Generator
) -> Array:
    """A point within limits, shape (nq,); without limits within [-pi, pi] or [-1 m, 1 m]."""
    q = np.empty(len(lower))
    for block in blocks:
        kind, part = block.kind, block.q
        if kind in ("spherical", "floating"):
            quat = rng.normal(size=4)
            q[part] = np.concatenate(
                [rng.uniform(-1, 1, part.stop - part.start - 4), quat / np.linalg.norm(quat)]
            )
            continue
        reach = np.full(part.stop - part.start, np.pi)
        reach[: {"prismatic": 1, "cylindrical": 1, "planar": 2}.get(kind, 0)] = 1.0
        low, high = lower[part], upper[part]
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        high = np.where(np.isfinite(high), high, np.maximum(low + 2 * reach, reach))
        q[part] = rng.uniform(low, np.maximum(low, high))
    return q


def difference(blocks: tuple[Block, ...], q0: Array, q1: Array) -> Array:
    """Twist, shape (..., nv), that leads from ``q0`` to ``q1`` in unit time."""
    nv = blocks[-1].v.stop if blocks else 0
    batch = np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1])
    dv = np.empty((*batch, nv))
    for block in blocks:
        x, y = q0[..., block.q], q1[..., block.q]
        if block.kind == "spherical":
            dv[..., block.v] = _quat_log(_quat_product(_conjugate(x), y))
        elif block.kind == "floating":
            w = _quat_log(_quat_product(_conjugate(x[..., 3:]), y[..., 3:]))
            R_0 = rotation_from_quaternion(x[..., 3:])
            shift = np.einsum("...ji,...j->...i", R_0, y[..., :3] - x[..., :3])
            jacobian = np.broadcast_to(_left_jacobian(w), (*batch, 3, 3))
            shift = np.broadcast_to(shift, (*batch, 3))
            dv[..., block.v.start : block.v.start + 3] = np.linalg.solve(
                jacobian, shift[..., None]
            )[..., 0]
            dv[..., block.v.start + 3 : block.v.stop] = w
        elif block.kind == "planar":
            dv[..., block.v] = _plane_twist(x, y)
        else:
            dv[..., block.v] = y - x
    return dv


def _conjugate(quat: Array) -> Array:
    return np.asarray(quat * np.array([-1.0, -1.0, -1.0, 1.0]))


def _quat_product(a: Array, b: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    scalar = a[..., 3] * b[..., 3] - np.sum(a[..., :3] * b[..., :3], axis=-1)
    product = np.concatenate([vector, scalar[..., None]], axis=-1)
    return np.asarray(product / np.linalg.norm(product, axis=-1, keepdims=True))


def _quat_log(quat: Array) -> Array:
    quat = np.where(quat[..., 3:] < 0.0, -quat, quat)
    sine = np.linalg.norm(quat[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quat[..., 3:])
    factor = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return np.asarray(factor * quat[..., :3])


def _left_jacobian(w: Array) -> Array:
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


def _plane_twist(x: Array, y: Array) -> Array:
    w = y[..., 2] - x[..., 2]
    mean = np.sinc(0.5 * w / np.pi)
    middle = x[..., 2] + 0.5 * w
    c, s = np.cos(middle), np.sin(middle)
    dx, dy = y[..., 0] - x[..., 0], y[..., 1] - x[..., 1]
    return np.stack([(c * dx + s * dy) / mean, (c * dy - s * dx) / mean, w], axis=-1)
