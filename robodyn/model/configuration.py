"""The space of all coordinates: its zero, unit quaternions, random points within limits."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.kind import JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import QUATERNION_ROUNDING


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


#: Neighbouring coordinates that are drawn together: their slice of q, and their limits, which are
#: ``None`` if the last four are a quaternion.
Draw = tuple[slice, FloatArray | None, FloatArray | None]


def draws(blocks: tuple[Block, ...], lower: FloatArray, upper: FloatArray) -> tuple[Draw, ...]:
    """Ranges from which `random` draws: limits, or [-pi, pi] and [-1 m, 1 m] without limits."""
    found: list[Draw] = []
    for block in blocks:
        kind, part = block.kind, block.q
        if kind.coordinates.quaternion:
            found.append((part, None, None))
            continue
        reach = np.array(
            [1.0 if kind.unit(k) == "m" else np.pi for k in range(part.stop - part.start)]
        )
        low, high = lower[part], upper[part]
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        high = np.where(np.isfinite(high), high, np.maximum(low + 2 * reach, reach))
        before, lowest, highest = found[-1] if found else (part, None, None)
        if lowest is not None and highest is not None and before.stop == part.start:
            low, high = np.concatenate([lowest, low]), np.concatenate([highest, high])
            part = slice(before.start, part.stop)
            found.pop()
        found.append((part, low, np.maximum(low, high)))
    return tuple(found)


def random(
    drawn: tuple[Draw, ...], nq: int, rng: np.random.Generator, count: int | None = None
) -> FloatArray:
    """A random point, shape (nq,), from the ranges of `draws`; or the next ones, (count, nq)."""
    if count is not None:
        _, low, high = drawn[0] if len(drawn) == 1 else (None, None, None)
        if low is not None and high is not None:
            return rng.uniform(low, high, size=(count, nq))
        return np.array([random(drawn, nq, rng) for _ in range(count)]).reshape(count, nq)
    q = np.empty(nq)
    for part, low, high in drawn:
        if low is not None and high is not None:
            q[part] = rng.uniform(low, high)
        else:
            quat = rng.normal(size=4)
            place = rng.uniform(-1, 1, part.stop - part.start - 4)
            q[part] = np.concatenate([place, quat / np.linalg.norm(quat)])
    return q


def normalised(blocks: tuple[Block, ...], q: FloatArray) -> FloatArray:
    """Positions with normalised quaternions; other coordinates are unchanged, bit for bit."""
    q = q.copy()
    for block in blocks:
        if block.kind.coordinates.quaternion:
            part = q[..., block.q.stop - 4 : block.q.stop]
            length = np.linalg.norm(part, axis=-1, keepdims=True)
            q[..., block.q.stop - 4 : block.q.stop] = np.where(
                np.abs(length - 1.0) > QUATERNION_ROUNDING, part / length, part
            )
    return q
