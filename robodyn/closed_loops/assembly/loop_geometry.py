"""The loops of a model as an analysis of their digits sees them: gaps, slopes, rank, postures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import FrameDisplacements
from robodyn.closed_loops.assembly.parallel_axes import parallel_rows
from robodyn.closed_loops.assembly.walks import walks
from robodyn.closed_loops.constraints.constraint_rows import PositionRows
from robodyn.closed_loops.solvers import assemble, rank_analysis
from robodyn.codegen import MethodTable
from robodyn.description.written_digits import rounding_of
from robodyn.equations.catalogue import trace_without_simplifying
from robodyn.errors import AssemblyError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import (
    DISPLACEMENT_NOISE,
    EXACT_RANK,
    LOOP_CLOSED,
    MISFIT,
    MOVED_FAR,
    ROUNDED_FILE_GAP,
    ROUNDED_FILE_RANK,
    WRONG_FILE_GAP,
)

#: Gaps and singular values are at most so many times the displacements that they come from.
LEVER = 30.0

#: Ranks above the least that are tried.
READINGS = 1


class LoopGeometry:
    """The loops of a model, in rad and in parts of the longest link, without a compiler.

    Where they come nearest to closing is given, or looked for from the start, and then from some
    guesses. Their frames can be ``displaced``.
    """

    def __init__(
        self, model: Model, q: Array | None = None, *, displaced: bool = False, guesses: int = 0
    ) -> None:
        setup = model.setup
        evaluator = Evaluator(model, MethodTable(), trace=trace_without_simplifying)
        self.evaluator = evaluator.at(0.0) if setup.rheonomic else evaluator
        self.model, self.space = model, ConfigurationSpace(model, self.evaluator)
        placed = tuple(self.frames.placed) if displaced else ()
        self._geometry = evaluator.interpreted("loop_geometry", t=0.0, placed=placed)
        self._known: tuple[Any, Any] = None, None
        self.of_positions = list(setup.position_rows)
        self.position = PositionRows(
            lambda q: self.geometry(q)[1], lambda q: self.geometry(q)[2], self.of_positions
        )
        self.units = np.array(setup.row_units)[self.of_positions]
        self.speed_units = np.array(setup.speed_units)
        self._given, self._guesses = q, guesses

    @cached_property
    def frames(self) -> FrameDisplacements:
        """Displacements of the frames of its joints."""
        return FrameDisplacements(self.model)

    def geometry(self, q: Array) -> Any:
        """Poses of frames, residuals and their derivatives at a posture; the last are kept."""
        key = np.shape(q), np.asarray(q).tobytes()
        if self._known[0] != key:
            self._known = key, self._geometry(q)
        return self._known[1]

    def residual(self, q: Array) -> Array:
        """Gaps, shape (..., nc)."""
        return np.asarray(self.position.residual(q) / self.units)

    def jacobian(self, q: Array) -> Array:
        """Their derivatives by the speeds, shape (..., nc, nv)."""
        return np.asarray(self.position.jacobian(q) / self.units[:, None] * self.speed_units)

    def displaced(self, q: Array) -> Array:
        """Their derivatives by displacements of frames at postures (m, nq), (m, nc, size)."""
        poses = np.asarray(self.geometry(q)[0])
        poses = np.broadcast_to(poses, (len(q), *poses.shape[-3:]))
        return np.asarray(self.frames.slopes(poses)[:, self.of_positions] / self.units[:, None])

    def axes_apart(self, tolerance: float) -> tuple[Array, Array]:
        """Of axes on a body: slopes by displacements of frames and size of what is not parallel."""
        frames = self.frames
        return parallel_rows(self.model, frames.turns, frames.size, tolerance)

    def gap(self, q: Array) -> float:
        """The largest gap at a posture; infinite where it is not a number."""
        size = float(np.abs(self.residual(q)).max(initial=0.0))
        return size if math.isfinite(size) else math.inf

    @cached_property
    def tolerance(self) -> float:
        """How far the digits, or ``closure_tolerance``, may have displaced all frames together."""
        setup, settings = self.model.setup, self.model.settings
        digits = rounding_of(self.model.mechanism, setup.longest_link or 1.0)
        rounding = min(max(ROUNDED_FILE_GAP, digits), WRONG_FILE_GAP)
        return float(max(rounding, min(settings.closure_tolerance, MISFIT)))

    @property
    def doubtful(self) -> float:
        """Singular values below this part of the largest may be rounding."""
        return min(max(LEVER * self.tolerance, ROUNDED_FILE_RANK), DISPLACEMENT_NOISE)

    @cached_property
    def nearest(self) -> Array:
        """The posture near the start in which the loops are closed, or most nearly so."""
        if self._given is not None:
            return self._given
        start = self.space.start()
        if self.gap(start) < LOOP_CLOSED:
            return start
        far, best = self.gap(start) > LEVER * self.tolerance, start
        searches = [(ROUNDED_FILE_RANK, 0), (None, 0), *[(None, self._guesses)] * far]
        for rank, guesses in searches:
            found = self.assembled(start, guesses, rank)
            if self.is_closed(found):
                return found
            if self.gap(found) < self.gap(best):
                best = found
            if not far and self.gap(best) <= LEVER * self.tolerance:
                break
        return best

    def assembled(self, start: Array, guesses: int, rank: float | None = None) -> Array:
        """Where loops come nearest to closing by a search from a posture and guesses around it."""
        low, high = self.model.lower, self.model.upper
        try:
            return assemble(
                self.position.residual,
                self.position.jacobian,
                self.space.integrate,
                start,
                lower=np.minimum(low, start),
                upper=np.maximum(high, start),
                guesses=guesses,
                closed=LOOP_CLOSED,
                rank=rank,
            )
        except AssemblyError as error:
            return np.asarray(error.q)

    def values(self, q: Array) -> Array:
        """Singular values of the Jacobian over the largest; ones if it has no slopes."""
        K = self.jacobian(q)
        if not np.isfinite(K).all():
            return np.ones(min(K.shape))
        values = np.linalg.svd(K, compute_uv=False)
        return np.asarray(values / (values.max(initial=0.0) or 1.0))

    def rank(self, q: Array) -> int:
        """The rank to the letter."""
        return int((self.values(q) > EXACT_RANK).sum())

    def is_exact(self, q: Array, doubtful: float) -> bool:
        """Whether loops close, and no singular value is doubtful, so small but not zero."""
        values = self.values(q)
        return self.is_closed(q) and not ((values > EXACT_RANK) & (values < doubtful)).any()

    def is_doubtful(self, q: Array) -> bool:
        """Whether loops are closed, and have doubtful singular values wherever they move to."""
        if not self.is_closed(q):
            return False
        rank = self.rank(q)
        postures = self.postures(q, rank, LOOP_CLOSED)
        values = np.array([self.values(x) for x in postures])
        small = (values > EXACT_RANK) & (values < self.doubtful)
        return bool(small.any(axis=1).all())

    def is_closed(self, q: Array) -> bool:
        """Whether loops are closed at postures, as searches for closed postures have it."""
        return bool(np.abs(self.position.residual(q)).max(initial=0.0) < LOOP_CLOSED)

    def has_rank(self, q: Array, rank: int) -> bool:
        """Whether loops are closed at postures (m, nq), and have a rank at all that are regular."""
        if not self.is_closed(q):
            return False
        return int(rank_analysis(self.position.jacobian(q)).rank.max(initial=0)) == rank

    def readings(self, q: Array, tolerance: float) -> Iterator[int]:
        """Ranks that the loops may be meant to have, the one that leaves most motion first."""
        values = self.values(q)
        doubtful = min(max(LEVER * tolerance, ROUNDED_FILE_RANK), DISPLACEMENT_NOISE)
        least = int((values > doubtful).sum())
        most = min(max(int((values > EXACT_RANK).sum()), least) + 1, len(values))
        yield from range(least, min(most, least + READINGS) + 1)

    def postures(self, q: Array, rank: int, tolerance: float) -> Array:
        """Postures far apart, (m, nq), q among them, closed but for a tolerance at a rank."""
        if rank >= self.space.nv:
            return q[None]
        gap = LEVER * tolerance * self.units
        for limited in (True, False):  # joints may be drawn at limits, or beyond them
            found = walks(self.model, self.position, self.space, q, rank, gap, limited)
            found = np.unique(found.reshape(-1, found.shape[-1]), axis=0)
            if np.abs(found - q).max(initial=0.0) > MOVED_FAR:
                break
        return np.concatenate([q[None], found])
