"""Walks through the closed postures of a linkage, computed without a compiler."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.constraints.constraint_rows import PositionRows
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import WALK_CLOSED, WALK_RANK, WALK_STEP

#: Steps of a walk, how many walks there are, and the longest stride of the fastest [rad, m].
STEPS, WALKS, STRIDE = 12, 8, 0.4

#: Newton steps that close the loops after a stride.
CLOSING = 5

#: Rows up to which singular values are found: eigenvalues of more than 25 are spread over threads
#: that wait for one another, which takes a hundred times as long.
FEW_ROWS = 50

#: Postures that are guessed, and Newton steps that look for closed ones near them.
GUESSES, SEARCHING = 32, 16


def walks(
    model: Model,
    rows: PositionRows,
    space: ConfigurationSpace,
    start: Array,
    rank: int | None = None,
    gap: Array | None = None,
    limited: bool = True,
) -> Iterator[tuple[Array, Array]]:
    """Closed postures after each step of some walks from a closed one, shape (walks, nq), with K.

    Each walk goes on as straight as the loops let it, half of them the other way, some with shorter
    strides. Where one cannot go on, it stays, turns round and takes shorter ones. With another
    ``rank`` than that of the start, and gaps that count as closed, these are walks through postures
    that are closed but for rounding, in which only joints of loops move. They go beyond limits if
    they are not ``limited``.
    """
    loops = _Loops(model, rows, space, start, rank, gap)
    rng = np.random.default_rng(0)
    heading = rng.uniform(-1.0, 1.0, (WALKS // 2, space.nv))
    if rank is not None:  # what no loop moves may be at a limit
        heading[:, (rows.jacobian(start) == 0.0).all(axis=0)] = 0.0
    heading = np.concatenate([heading, -heading])
    stride = STRIDE * np.tile(np.linspace(1.0, 0.3, WALKS // 2), 2)
    here, K = np.tile(start, (WALKS, 1)), np.tile(rows.jacobian(start), (WALKS, 1, 1))
    yield here, K
    for _ in range(STEPS):
        with np.errstate(all="ignore"):  # some postures are none
            along = loops.along(K, heading)
            there = loops.closed(space.move(here, stride[:, None] * along), CLOSING)
            good = loops.arrived(here, there, limited)
            K = np.where(good[:, None, None], rows.jacobian(there), K)
        heading = np.where(good[:, None], along, -along)
        stride = np.where(good, stride, 0.5 * stride)
        here = np.where(good[:, None], there, here)
        yield here, K


@np.errstate(all="ignore")
def scattered(
    model: Model, rows: PositionRows, space: ConfigurationSpace, start: Array
) -> FloatArray:
    """Random closed postures within the limits, shape (n, nq); n may be zero."""
    loops = _Loops(model, rows, space, start)
    rng = np.random.default_rng(0)
    guesses = np.array([space.random(rng) for _ in range(GUESSES)])
    found = loops.closed(guesses, SEARCHING)
    return np.asarray(found[loops.arrived(np.tile(start, (GUESSES, 1)), found)])


class _Loops:
    """The loops of a linkage, closed by Newton's method at many postures at once.

    The rank at a closed posture, or a given one, is taken to be that of all; ``gap`` (nc,) is the
    largest [m, rad] of closed postures.
    """

    def __init__(
        self,
        model: Model,
        rows: PositionRows,
        space: ConfigurationSpace,
        start: Array,
        rank: int | None = None,
        gap: Array | None = None,
    ) -> None:
        self._model, self._rows, self._space = model, rows, space
        K = rows.jacobian(start)
        sizes = np.linalg.svd(K, compute_uv=False)
        self._rank = (
            int((sizes > WALK_RANK * sizes.max(initial=0.0)).sum()) if rank is None else rank
        )
        self._done = WALK_CLOSED * max(1.0, float(np.abs(K).max(initial=0.0)))
        self._gap = self._done if gap is None else gap

    def along(self, K: Array, heading: Array) -> Array:
        """Motions that loops allow nearest to given ones, scaled to the largest speed 1."""
        along = heading - self._least(K, _by(K, heading))
        size = np.abs(along).max(axis=1, keepdims=True, initial=0.0)
        return np.asarray(along / np.where(size > 0.0, size, 1.0))

    def closed(self, q: Array, steps: int) -> Array:
        """Postures nearer to being closed after some steps, of half a radian at most."""
        for _ in range(steps):
            gap = self._rows.residual(q)
            if np.abs(gap).max(initial=0.0) < self._done:
                break
            step = self._least(self._rows.jacobian(q), gap)
            size = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
            q = self._space.move(q, -step / np.maximum(1.0, 2.0 * size))
            if size.max() < WALK_STEP:
                break
        return q

    def arrived(self, here: Array, there: Array, limited: bool = True) -> Array:
        """Whether loops are closed, and no joint is (farther) beyond a limit, if that counts."""
        low, high = np.minimum(self._model.lower, here), np.maximum(self._model.upper, here)
        inside = ((low <= there) & (there <= high)).all(axis=1) | (not limited)
        closed = (np.abs(self._rows.residual(there)) < self._gap).all(axis=1)
        finite = np.isfinite(self._rows.jacobian(there)).all(axis=(1, 2))
        return np.asarray(inside & finite & closed)

    def _least(self, K: Array, b: Array) -> Array:
        """The x of least norm with ``K x = b``, at the rank that closed loops have.

        Zero where these are no numbers: loops that are solved in closed form do not close there.
        """
        unknown = ~(np.isfinite(K).all(axis=(1, 2)) & np.isfinite(b).all(axis=1))
        K, b = K.copy(), b.copy()
        K[unknown], b[unknown] = 0.0, 0.0
        if K.shape[1] <= FEW_ROWS:
            U, sizes, _ = np.linalg.svd(K, full_matrices=False)
            U, squares = U[:, :, : self._rank], sizes[:, : self._rank] ** 2
        else:  # squares will do: what they lose is made up for by the next step
            squares, U = np.linalg.eigh(K @ np.swapaxes(K, -1, -2))
            first = K.shape[1] - self._rank
            U, squares = U[:, :, first:], squares[:, first:]
        inside = _by(np.swapaxes(U, 1, 2), b) / np.maximum(squares, 1e-20)
        return _by(np.swapaxes(K, 1, 2), _by(U, inside))


def _by(A: Array, x: Array) -> Array:
    return np.asarray(np.einsum("nij,nj->ni", A, x))
