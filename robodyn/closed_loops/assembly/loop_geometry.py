"""The loops of a model as an analysis of their digits sees them: gaps, slopes, rank, postures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import FrameDisplacements
from robodyn.closed_loops.assembly.parallel_axes import parallel_rows
from robodyn.closed_loops.assembly.walks import walks
from robodyn.closed_loops.constraints.constraint_rows import Geometry, PositionRows
from robodyn.closed_loops.solvers import assemble, null_space, rank_analysis
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
    LOOP_DRIFT,
    MISFIT,
    MOVED_FAR,
    ROUNDED_FILE_GAP,
    ROUNDED_FILE_RANK,
    STILL,
    WRONG_FILE_GAP,
)

#: Gaps and singular values are at most so many times the displacements that they come from.
LEVER = 30.0

#: The least singular value of a linkage that cannot move comes from displaced frames rather than
#: from what is meant if it is at most so many times the displacements.
STIFF_LEVER = 3.0

#: Motion of a joint [rad, m] that leads away from a singular posture.
FAR = 0.3

#: Postures that differ by less in each joint [rad, m] are near one another.
NEARBY = 0.5

#: Steps of a walk, of shorter and shorter strides, after which one that did not get far ends.
TRIED = 6

#: Guesses from which a closed posture is looked for, if there is none by the start.
GUESSES = 4

#: Ranks above the least that are tried.
READINGS = 1


@dataclass(frozen=True)
class StiffLoops:
    """Loops in which no joint can move."""

    names: tuple[str, ...]  # of the joints that close them
    rank: int  # of their rows, which is the number of their speeds
    least: float  # of as many singular values, over the largest


class LoopGeometry:
    """The loops of a model, in rad and in parts of the longest link, without a compiler.

    Their frames can be ``displaced``.
    """

    def __init__(self, model: Model, *, displaced: bool = False) -> None:
        setup = model.setup
        evaluator = Evaluator(model, MethodTable(), trace=trace_without_simplifying)
        self.evaluator = evaluator.at(0.0) if setup.rheonomic else evaluator
        self.model, self.space = model, ConfigurationSpace(model, self.evaluator)
        unmoved = tuple(np.eye(4).ravel().tolist())
        placed = tuple((link, unmoved) for link in self.frames.links) if displaced else ()
        self.geometry = Geometry(evaluator.interpreted("loop_geometry", t=0.0, placed=placed))
        self.of_positions = list(setup.position_rows)
        self.position = PositionRows(
            self.geometry.residual, self.geometry.jacobian, self.of_positions
        )
        self.units = np.array(setup.row_units)[self.of_positions]
        self.speed_units = np.array(setup.speed_units)

    @cached_property
    def frames(self) -> FrameDisplacements:
        """Displacements of the frames of its joints."""
        return FrameDisplacements(self.model)

    @cached_property
    def displaceable(self) -> LoopGeometry:
        """The same loops, of which frames can be displaced."""
        return LoopGeometry(self.model, displaced=True)

    def residual(self, q: Array) -> Array:
        """Gaps, shape (..., nc)."""
        return np.asarray(self.position.residual(q) / self.units)

    def jacobian(self, q: Array) -> Array:
        """Their derivatives by the speeds, shape (..., nc, nv)."""
        return np.asarray(self.position.jacobian(q) / self.units[:, None] * self.speed_units)

    def pose(self, q: Array, link: str) -> Array:
        """Pose of a link in the world, shape (4, 4)."""
        return np.asarray(self.evaluator.interpreted("frame_pose", frame=link)(q))

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
    def rounding(self) -> float:
        """How far the digits may have displaced all frames together."""
        digits = rounding_of(self.model.mechanism, self.model.setup.longest_link or 1.0)
        return float(min(max(ROUNDED_FILE_GAP, digits), WRONG_FILE_GAP))

    @cached_property
    def tolerance(self) -> float:
        """How far the digits, or ``closure_tolerance``, may have displaced all frames together."""
        return max(self.rounding, min(self.model.settings.closure_tolerance, MISFIT))

    @property
    def doubtful(self) -> float:
        """Singular values below this part of the largest may be rounding."""
        return min(max(LEVER * self.tolerance, ROUNDED_FILE_RANK), DISPLACEMENT_NOISE)

    @cached_property
    def nearest(self) -> Array:
        """The posture near the start in which the loops are closed, or most nearly so."""
        start = self.space.start()
        if self.gap(start) < LOOP_DRIFT:
            return start
        far = self.gap(start) > LEVER * self.rounding  # whatever else is allowed
        found = self.assembled(start, 0, ROUNDED_FILE_RANK)
        if far and not self.is_closed(found):
            found = min(found, self.assembled(start, GUESSES), key=self.gap)
        return min(found, start, key=self.gap)

    def is_far(self, q: Array) -> bool:
        """Whether a posture is not near the start."""
        return bool(np.abs(self.space.difference(self.space.start(), q)).max(initial=0.0) > NEARBY)

    def assembled(
        self, start: Array, guesses: int, rank: float | None = None, rows: Any = slice(None)
    ) -> Array:
        """Where loops come nearest to closing by a search from a posture and guesses around it."""
        low, high = self.model.lower, self.model.upper
        try:
            return assemble(
                lambda q: self.position.residual(q)[rows],
                lambda q: self.position.jacobian(q)[rows],
                self.space.move,
                start,
                lower=np.minimum(low, start),
                upper=np.maximum(high, start),
                guesses=guesses,
                closed=LOOP_CLOSED,
                rank=rank,
            )
        except AssemblyError as error:
            return np.asarray(error.q)

    def is_stiff(self, q: Array, rank: int) -> bool:
        """Whether no joint of the loops can move if they have a rank at a posture."""
        return rank >= int((self.jacobian(q) != 0.0).any(axis=0).sum())

    @cached_property
    def owners(self) -> Array:
        """Names of the closures and constraints that the rows are of."""
        names = self.model.setup.row_names
        return np.array([names[k].rpartition("[")[0] for k in self.of_positions], dtype=str)

    def stiff(self, q: Array) -> StiffLoops | None:
        """The loops in which no joint can move at a posture, taken to the letter.

        Not those that are stiff only together with other constraints, or momentarily.
        """
        K = self.jacobian(q)
        if not np.isfinite(K).all():
            return None
        still = np.abs(null_space(K)).max(axis=1, initial=0.0) < STILL
        if not (still & (K != 0.0).any(axis=0)).any():
            return None

        def of(names: list[str]) -> StiffLoops | None:
            rows = K[np.isin(self.owners, names)]
            rows = rows[:, (rows != 0.0).any(axis=0)]
            rank = int(rank_analysis(rows).rank) if rows.size else 0
            if not 0 < rank == rows.shape[1]:
                return None
            values = np.linalg.svd(rows, compute_uv=False)
            closed_by = [shown[name] for name in names]
            return StiffLoops(tuple(closed_by), rank, float(values[rank - 1] / values[0]))

        def is_held(name: str) -> bool:
            joints = self.frames.on_loop(name)
            if not joints or any(x.map is not None and x.map.rheonomic for x in joints):
                return False
            moved = (K[self.owners == name] != 0.0).any(axis=0)
            for joint in joints:
                moved[self.model.joints[joint.name].v] = True
            return bool(still[moved].all())

        shown = {x.name: getattr(x, "rejoins", None) or x.name for x in self.model.tree.cuts}
        held = [name for name in shown if is_held(name)]
        return of(held) or of([name for name in held if of([name])])

    def _stiff_by(self, q: Array, tolerance: float, least: float = 0.0) -> bool:
        """Whether displacements within a tolerance may make loops stiff.

        By a singular value that is above ``least``.
        """
        found = self.stiff(q)
        return found is not None and least < found.least < STIFF_LEVER * tolerance

    def values(self, q: Array) -> Array:
        """Singular values of the Jacobian over the largest; ones if it has no slopes.

        If digits can have made them all, as of joints that hold nothing, they are left as they are.
        """
        return self._values(self.position.jacobian(q))

    def _values(self, K: Array) -> Array:
        """The same of slopes (..., nc, nv)."""
        K = K / self.units[:, None] * self.speed_units
        known = np.asarray(np.isfinite(K).all(axis=(-2, -1)))[..., None]
        values = np.linalg.svd(np.where(known[..., None], K, 0.0), compute_uv=False)
        largest = values.max(axis=-1, initial=0.0, keepdims=True)
        values = values / np.where(largest > self.doubtful, largest, 1.0)
        return np.where(known, values, 1.0)

    def rank(self, q: Array) -> int:
        """The rank to the letter."""
        return int((self.values(q) > EXACT_RANK).sum())

    def is_exact(self, q: Array, doubtful: float) -> bool:
        """Whether loops close, and are not rounded: their rank is beyond doubt at some posture.

        That is at one of those that they move to from ``q``, which may be near a singular one. Of
        loops that are rounded, singular values are doubtful everywhere: small, but not zero.
        """
        if np.abs(self.position.residual(q)).max(initial=0.0) > LOOP_DRIFT:
            return False
        rank = self.rank(q)
        if self._stiff_by(q, self.tolerance):
            return False
        largest = 0.0
        for there, K in self._walked(q, rank, LOOP_CLOSED):
            values = self._values(K)
            sure = (values >= doubtful).sum(axis=1)
            if ((sure >= rank) & (sure == (values > EXACT_RANK).sum(axis=1))).any():
                return True
            largest = max(largest, float(values[:, rank - 1].max()))
            if np.abs(there - q).max() > FAR and largest < DISPLACEMENT_NOISE * doubtful:
                return False  # near a singular posture they would have grown by now
        return False

    def is_closed(self, q: Array) -> bool:
        """Whether loops are closed at postures, as searches for closed postures have it."""
        return bool(np.abs(self.position.residual(q)).max(initial=0.0) < LOOP_CLOSED)

    def general_rank(self, q: Array) -> int:
        """The rank by which robots count degrees of freedom: the largest at postures (m, nq)."""
        return int(rank_analysis(self.position.jacobian(q)).rank.max(initial=0))

    def readings(self, q: Array, tolerance: float) -> Iterator[int]:
        """Ranks that the loops may be meant to have, the one that leaves most motion first."""
        values = self.values(q)
        doubtful = min(max(LEVER * tolerance, ROUNDED_FILE_RANK), DISPLACEMENT_NOISE)
        least = int((values > doubtful).sum())
        least -= self._stiff_by(q, tolerance, doubtful)
        most = min(max(int((values > EXACT_RANK).sum()), least) + 1, len(values))
        yield from range(least, min(most, least + READINGS) + 1)

    def postures(self, q: Array, rank: int, tolerance: float) -> Array:
        """Postures far apart, q the first of them, closed but for a tolerance at a rank (m, nq)."""
        return np.concatenate([found for found, _ in self._walked(q, rank, tolerance)])

    def _walked(self, q: Array, rank: int, tolerance: float) -> Iterator[tuple[Array, Array]]:
        """The same with their slopes, some at a time."""
        yield q[None], self.position.jacobian(q)[None]
        gap, moved = LEVER * tolerance * self.units, 0.0
        for limited in (True, False):  # joints may be drawn at limits, or beyond them
            if self.is_stiff(q, rank) or moved > MOVED_FAR:
                break
            ways = walks(self.model, self.position, self.space, q, rank, gap, limited)
            for k, found in enumerate(ways):
                moved = max(moved, float(np.abs(found[0] - q).max()))
                yield found
                if k == TRIED and moved < MOVED_FAR:
                    break
