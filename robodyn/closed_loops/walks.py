"""Walks through the closed postures of a linkage: where it can get to, without a compiler."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.constraint_rows import PositionRows
from robodyn.configuration_space import ConfigurationSpace
from robodyn.model.model import Model

__all__ = ["walks"]


#: Steps of a walk, how many walks there are, and the longest stride of the fastest [rad, m].
STEPS, WALKS, STRIDE = 12, 8, 0.4

#: Newton steps that close the loops after a stride, and gap [m, rad] that they may leave, as a part
#: of the lengths in K if those are above 1 m.
CLOSING, CLOSED = 5, 1e-12

#: Singular values of K at the start that are below this part of the largest one count as zero.
RANK = 1e-7


def walks(model: Model, rows: PositionRows, space: ConfigurationSpace, start: Array) -> FloatArray:
    """Closed postures along some walks from a closed one, shape (steps, walks, nq).

    Each walk goes on as straight as the loops let it, half of them the other way, some with shorter
    strides. Where one cannot go on, it stays, turns round and takes shorter ones.
    """
    rng = np.random.default_rng(0)
    heading = rng.uniform(-1.0, 1.0, (WALKS // 2, space.nv))
    heading = np.concatenate([heading, -heading])
    K = rows.jacobian(start)
    closed = CLOSED * max(1.0, float(np.abs(K).max(initial=0.0)))
    sizes = np.linalg.svd(K, compute_uv=False)
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    stride = STRIDE * np.tile(np.linspace(1.0, 0.3, WALKS // 2), 2)
    here = np.tile(start, (WALKS, 1))
    postures = [here]
    for _ in range(STEPS):
        K = rows.jacobian(here)
        along = heading - _least(K, _by(K, heading), rank)
        size = np.abs(along).max(axis=1, keepdims=True, initial=0.0)
        along = along / np.where(size > 0.0, size, 1.0)
        there = space.integrate(here, stride[:, None] * along)
        for _ in range(CLOSING):
            gap = rows.residual(there)
            if np.abs(gap).max(initial=0.0) < closed:
                break
            there = space.integrate(there, -_least(rows.jacobian(there), gap, rank))
        good = _arrived(model, here, there, rows.residual(there), closed)
        heading = np.where(good[:, None], along, -along)
        stride = np.where(good, stride, 0.5 * stride)
        here = np.where(good[:, None], there, here)
        postures.append(here)
    return np.array(postures)


def _arrived(model: Model, here: Array, there: Array, gap: Array, closed: float) -> Array:
    """Whether loops are closed, and no joint goes (farther) beyond a limit."""
    low, high = np.minimum(model.lower, here), np.maximum(model.upper, here)
    inside = ((low <= there) & (there <= high)).all(axis=1)
    return np.asarray(inside & (np.abs(gap).max(axis=1, initial=0.0) < closed))


def _least(K: Array, b: Array, rank: int) -> Array:
    """The x of least norm with ``K x = b``: open loops hide what the rank is where they close."""
    U, sizes, Vt = np.linalg.svd(K)
    inside = _by(np.swapaxes(U[:, :, :rank], 1, 2), b) / np.maximum(sizes[:, :rank], 1e-12)
    return _by(np.swapaxes(Vt[:, :rank], 1, 2), inside)


def _by(A: Array, x: Array) -> Array:
    return np.asarray(np.einsum("nij,nj->ni", A, x))
