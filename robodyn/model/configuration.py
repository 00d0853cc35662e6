"""The space of all coordinates: its zero, unit quaternions, random points within limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.kind import JointKind
from robodyn.tolerances import QUATERNION_ROUNDING

__all__ = ["Block", "euclidean", "neutral", "normalised", "random"]


@dataclass(frozen=True)
class Block:
    """Coordinates of one joint: its kind, and where they stand in q and v."""

    kind: JointKind
    q: slice
    v: slice


def euclidean(blocks: tuple[Block, ...]) -> bool:
    """Whether all coordinates add."""
    return all(block.kind.coordinates.flat for block in blocks)


def neutral(blocks: tuple[Block, ...], nq: int) -> FloatArray:
    """Zero position, shape (nq,)."""
    q = np.zeros(nq)
    for block in blocks:
        if block.kind.coordinates.quaternion:
            q[block.q.stop - 1] = 1.0
    return q


def random(
    blocks: tuple[Block, ...], lower: FloatArray, upper: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """A point within limits, shape (nq,); without limits within [-pi, pi] or [-1 m, 1 m]."""
    q = np.empty(len(lower))
    for block in blocks:
        kind, part = block.kind, block.q
        count = part.stop - part.start
        if kind.coordinates.quaternion:
            quat = rng.normal(size=4)
            q[part] = np.concatenate([rng.uniform(-1, 1, count - 4), quat / np.linalg.norm(quat)])
            continue
        reach = np.array([1.0 if kind.unit(k) == "m" else np.pi for k in range(count)])
        low, high = lower[part], upper[part]
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        high = np.where(np.isfinite(high), high, np.maximum(low + 2 * reach, reach))
        q[part] = rng.uniform(low, np.maximum(low, high))
    return q


def normalised(blocks: tuple[Block, ...], q: FloatArray) -> FloatArray:
    """Positions whose quaternions have unit length; others are as they were, to the last bit."""
    q = q.copy()
    for block in blocks:
        if block.kind.coordinates.quaternion:
            part = q[..., block.q.stop - 4 : block.q.stop]
            length = np.linalg.norm(part, axis=-1, keepdims=True)
            q[..., block.q.stop - 4 : block.q.stop] = np.where(
                np.abs(length - 1.0) > QUATERNION_ROUNDING, part / length, part
            )
    return q
