"""Linkages whose loops close, or move, only but for the rounding of the numbers in their file.

A planar four-bar moves because its axes are parallel. Written with six digits they are not, and
taken to the letter it is a structure, or does not close at all. Its constraints are then
independent by no more than the digits: singular values of the Jacobian are of their size and
not of that of the mechanism. What is meant is the mechanism near by in which these are zero. The
frames of the joints are displaced by as little as makes the loops close all along the motion that
is left::

    min |d|    with    r(q_k) + K(q_k) dq_k + D(q_k) d = 0    at closed postures q_k far apart

where D is the derivative of the gaps by displacements d of the frames. Axes that are nearly
parallel on a body are made so first, and kept so by further rows. Gauss-Newton steps converge to
rounding. That is the linkage from then on; nothing else in the library knows of digits. If d
is larger than the digits can have done, or if there is no such motion, the numbers are taken to
the letter: a truss stays stiff.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.loop_geometry import LEVER, NEARBY, LoopGeometry
from robodyn.closed_loops.assembly.low_rank import least_norm
from robodyn.closed_loops.assembly.opposite_axes import with_axes_turned
from robodyn.closed_loops.assembly.parallel_axes import with_parallel_axes
from robodyn.description import Mechanism, with_exact_turns
from robodyn.model.model import Model, build_model, with_frames_of
from robodyn.model.settings import Settings
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import (
    ALMOST_PARALLEL,
    DEFAULT_SNAP,
    DISPLACEMENT_NOISE,
    EXACT_RANK,
    EXACT_TURNS_RANK,
    FINE_DISPLACEMENT_NOISE,
    LEAST_DISPLACEMENT_NOISE,
    LOOP_CLOSED,
    LOOP_DRIFT,
    MISFIT,
    MOVED_FAR,
    NEARLY_CLOSED,
    NEARLY_PARALLEL,
    ROUNDED_GAP,
    ROUNDED_STEP,
    WRONG_FILE_GAP,
)

#: Guesses from which a closed posture is looked for where it decides about half a turn.
MANY_GUESSES = 20

#: Gauss-Newton steps, and most postures looked at.
STEPS, POSTURES = 10, 60

#: Part of a gap that a step has to leave at most, so that another one is made.
ENOUGH, QUICKLY = 0.5, 0.1


@dataclass(frozen=True, eq=False)
class Rounding:
    """A linkage whose frames were displaced so that it closes and moves."""

    model: Model
    size: float  # norm of all displacements [rad, parts of the longest link]
    angle: float  # the largest turn and way of a frame [rad, m]
    way: float
    rank: int
    loops: LoopGeometry  # of the model
    q: Array  # closed
    gap: float  # to the letter, the largest along the motion [rad, parts of the longest link]
    row: str  # of that gap


@dataclass(frozen=True, eq=False)
class Meant:
    """A linkage that a description means, in tree coordinates, and what is to be told of it."""

    model: Model
    told: tuple[str, ...] = ()
    loops: LoopGeometry | None = None  # of a linkage that may be rounded
    q: Array | None = None  # a posture at which these are closed, or most nearly so
    rounding: Rounding | None = None  # if frames were displaced


def as_meant(mechanism: Mechanism, settings: Settings, *, turned: bool = False) -> Meant:
    """The linkage that a description with rounded numbers means.

    Joints whose axes point opposite ways are taken half a turn round, if none is ``turned`` yet.

    It is told where more is changed than what sums and products of numbers of a file leave of zero.
    Of a linkage that closes and moves to the letter, or with ``rigid=True``, it is the description
    as it is.
    """
    model = build_model(mechanism, settings)
    if settings.rigid or not model.setup.closures:
        return Meant(model)
    letter = LoopGeometry(model)
    start = letter.space.start()
    opened = np.abs(letter.residual(start)) > WRONG_FILE_GAP
    words = np.array(model.setup.row_words)[letter.of_positions]
    if not turned and opened.any() and (words[opened] == "rad").all():
        half_round = _with_axes_turned(letter, settings, start)
        if half_round is not None:
            return half_round
    q = letter.nearest
    if letter.is_exact(q, letter.doubtful):
        return Meant(model, (), letter, q)
    neatly = with_exact_turns(mechanism)[0]
    if neatly is not mechanism:
        exact = LoopGeometry(build_model(neatly, settings))
        # where loops close already, rounded turns make rows independent that exact ones do not
        more = letter.gap(q) < LOOP_CLOSED and exact.rank(exact.nearest) >= letter.rank(q)
        if not more and exact.is_exact(exact.nearest, EXACT_TURNS_RANK):
            return Meant(exact.model, (), exact, exact.nearest)
    if not turned and letter.gap(q) > LEVER * letter.tolerance:
        half_round = _with_axes_turned(letter, settings, q)
        if half_round is not None:
            return half_round
    found = nearest_linkage(letter, letter.tolerance)
    if found is not None:
        told = (_told(letter, found),) * (found.size > DEFAULT_SNAP)
        return Meant(found.model, told, found.loops, found.q, found)
    return Meant(model, _doubt(letter, q) if letter.is_closed(q) else (), letter, q)


def _with_axes_turned(letter: LoopGeometry, settings: Settings, q: Array) -> Meant | None:
    """The linkage with joints taken half a turn round, if its loops close so and not else."""

    def closed(mechanism: Mechanism) -> Meant | None:
        found = as_meant(mechanism, settings, turned=True)
        linkage = LoopGeometry(found.model)
        q = linkage.assembled(linkage.space.start(), MANY_GUESSES)
        return dataclasses.replace(found, loops=linkage, q=q) if linkage.is_closed(q) else None

    found = with_axes_turned(letter, q, closed)
    return found and dataclasses.replace(found[0], told=(found[1], *found[0].told))


def nearest_linkage(
    letter: LoopGeometry, tolerance: float = MISFIT, below: float = math.inf
) -> Rounding | None:
    """The nearest linkage that closes and moves, if all displacements together are within this.

    The tolerance is in rad and parts of the longest link. Its rank is ``below`` another one. It is
    one that closes near where it is drawn, if there is one: elsewhere it may move in other ways.
    """
    model, starts = letter.model, [(letter, 0.0)]
    parallel, turned = with_parallel_axes(model, min(LEVER * tolerance, NEARLY_PARALLEL))
    if DEFAULT_SNAP < turned <= max(tolerance, WRONG_FILE_GAP):
        starts.insert(0, (LoopGeometry(build_model(parallel, model.settings)), turned))
    nearly = min(LEVER * tolerance, max(tolerance, WRONG_FILE_GAP))
    ways = [
        (start.is_far(q), rank, k, not held, q)
        for k, (start, _) in enumerate(starts)
        for held, q in ((True, start.space.start()), (False, start.nearest))
        if start.gap(q) <= nearly
        for rank in start.readings(q, tolerance)
        if rank < below
    ]
    seen = dict[tuple[int, int, bytes], Array]()
    for _, rank, k, free, q in sorted(ways, key=lambda way: way[:4]):
        start, turned = starts[k]
        if (way := (rank, k, q.tobytes())) not in seen:
            seen[way] = np.unique(start.postures(q, rank, tolerance), axis=0)
        postures = np.array([q, *seen[way]])
        found = _displaced(start, letter, postures, rank, tolerance, not free, turned)
        if found is not None:
            return found
    return None


def closed_by_one_frame(model: Model, q: Array, name: str) -> tuple[Mechanism, bool] | None:
    """The description with the first frame of a joint moved so that its loop closes near a posture.

    And whether no joint in some loop can move then. ``None`` if that does not close all loops, but
    for the rounding of other frames.
    """
    linkage = LoopGeometry(model, displaced=True)
    q = linkage.assembled(q, 0, rows=linkage.owners != name)
    for _ in range(STEPS):
        mask = linkage.frames.of_mover(name)
        slopes, gap = linkage.displaced(q[None])[0][:, mask], linkage.residual(q)
        if not (np.isfinite(slopes).all() and np.isfinite(gap).all() and mask.any()):
            return None
        d = np.zeros(len(mask))
        d[mask] = -np.linalg.lstsq(slopes, gap, rcond=None)[0]
        moved = build_model(linkage.frames.moved(d), model.settings)
        before, linkage = linkage.gap(q), LoopGeometry(moved, displaced=True)
        if linkage.is_closed(q):
            return moved.mechanism, linkage.stiff(q) is not None
        if not linkage.gap(q) < 0.5 * before:
            break
    if linkage.gap(q) > linkage.tolerance:
        return None
    meant = as_meant(linkage.model.mechanism, model.settings)
    if meant.loops is None or meant.q is None or not meant.loops.is_closed(meant.q):
        return None
    return linkage.model.mechanism, meant.loops.stiff(meant.q) is not None


def _told(letter: LoopGeometry, found: Rounding) -> str:
    nv, rank = letter.space.nv, letter.rank(letter.nearest)
    closed = letter.gap(letter.nearest) < LOOP_CLOSED
    as_written = f"leave {nv - rank} degrees of freedom" if closed else "do not close"
    why = "rounding can have done" if found.size <= letter.rounding else "closure_tolerance allows"
    return (
        f"to the letter of their numbers the loops {as_written}; the frames of their joints are "
        f"moved by up to {found.angle:.2g} rad and {found.way:.2g} m, as {why}, so that they close "
        f"and leave {nv - found.rank}. To the letter {found.row} would open by "
        f"up to {found.gap:.2g} (rad, or parts of the longest link) in that motion. rigid=True "
        "takes the numbers to the letter"
    )


def _doubt(letter: LoopGeometry, q: Array) -> tuple[str, ...]:
    """The message about a linkage whose mobility hangs on its digits, without a cure, if any."""
    nv, values = letter.space.nv, letter.values(q)
    few, many = int((values >= letter.doubtful).sum()), letter.rank(q)
    if few == many:
        return ()
    return (
        f"whether the loops leave {nv - many} or {nv - few} degrees of freedom hangs on the last "
        f"digits: {many - few} singular values of their Jacobian are at most "
        f"{values[few]:.1e} of the largest. To the letter they leave {nv - many}, and no linkage "
        f"was found whose frames are within {letter.tolerance:.1e} (rad, or parts of the longest "
        "link) of these and that has the others: write frames and axes with more digits, or take "
        "rigid=True if it is meant to be as stiff",
    )


def _displaced(
    start: LoopGeometry,
    letter: LoopGeometry,
    postures: Array,
    rank: int,
    tolerance: float,
    held: bool,
    turned: float,
) -> Rounding | None:
    """The linkage with frames displaced so that it closes at all postures with this rank.

    Or at those of them at which it is open by less than at others, where it moves far from ones at
    which digits open it by much, or at those near the first one. That one, in which it was drawn,
    stays as it is if it is ``held``.
    """
    q = postures[0]
    gaps = np.abs(start.residual(postures)).max(axis=1)
    steps = np.abs(start.space.difference(np.broadcast_to(q, postures.shape), postures))
    by_it = steps.max(axis=1, initial=0.0) < NEARBY
    for near in (postures, postures[gaps <= max(np.median(gaps), gaps[0])], postures[by_it]):
        found = _closed_at(start, letter, near, rank, tolerance, held, turned)
        if found is not None:
            return found
    return None


def _closed_at(
    start: LoopGeometry,
    letter: LoopGeometry,
    postures: Array,
    rank: int,
    tolerance: float,
    held: bool,
    turned: float,
) -> Rounding | None:
    """The same, at all of some postures."""
    q = postures[0]
    steps = start.space.difference(np.broadcast_to(q, postures.shape), postures)
    if not start.is_stiff(q, rank) and np.abs(steps).max(initial=0.0) < MOVED_FAR:
        return None
    postures = _fewer(postures, rank, start)
    opened = np.abs(letter.residual(postures))
    if opened.max() <= letter.model.settings.closure_tolerance:  # loops are as good as closed
        tolerance = max(tolerance, WRONG_FILE_GAP)
    if turned > tolerance:
        return None
    # axes that are not parallel to these digits, though some nearly are, are left as they are
    apart = np.abs(start.axes_apart(ALMOST_PARALLEL)[1]).max(initial=0.0)
    parallel = ALMOST_PARALLEL if apart < DEFAULT_SNAP else 0.0
    linkage = start.displaceable
    found = _Closing(linkage, postures, np.zeros(linkage.frames.size), rank, held, parallel)
    for fine, quick in ((0.0, True), (2.0, False), (0.0, False), (2.0, False), (1.0, False)):
        found = found.stepped(tolerance, fine, quick)
        if found.has_rank:
            break
        if found.gap > max(NEARLY_CLOSED, LEVER * float(found.total @ found.total)):
            return None  # by more than squares of displacements
    if not found.has_rank:
        return None
    row = letter.of_positions[int(opened.max(axis=0).argmax())]
    angle, way = found.linkage.frames.largest(found.total)
    return Rounding(
        build_model(found.linkage.model.mechanism, letter.model.settings),
        math.hypot(turned, float(np.linalg.norm(found.total))),
        max(turned, angle),
        way,
        found.found_rank,
        found.linkage,
        found.postures[0],
        float(opened.max()),
        letter.model.setup.row_names[row],
    )


@dataclass(frozen=True, eq=False)
class _Closing:
    """A linkage whose frames are displaced step by step so that it closes."""

    linkage: LoopGeometry
    postures: Array  # (m, nq), where it is to be closed
    total: Array  # (size,), displacements so far
    rank: int
    held: bool  # the first posture stays as it is
    parallel: float  # [rad]: axes on a body that miss being parallel by less are to be so

    @cached_property
    def gap(self) -> float:
        """What is left of gaps, and of angles between axes that are to be parallel."""
        apart = float(np.abs(self._apart[1]).max(initial=0.0))
        return max(self.linkage.gap(self.postures), apart)

    @cached_property
    def _apart(self) -> tuple[Array, Array]:
        return self.linkage.axes_apart(self.parallel)

    @cached_property
    def has_rank(self) -> bool:
        """Whether it is closed and has the rank at the postures, or less if it moves."""
        if not self.linkage.is_closed(self.postures):
            return False
        moves = not self.linkage.is_stiff(self.postures[0], self.rank)
        return self.found_rank == self.rank or (moves and self.found_rank < self.rank)

    @cached_property
    def found_rank(self) -> int:
        """The rank at the postures."""
        return self.linkage.general_rank(self.postures)

    def stepped(self, tolerance: float, fine: float, quick: bool) -> _Closing:
        """The same after Gauss-Newton steps, as long as gaps get less.

        Fine ones go along displacements that open loops by little more than their squares, which a
        coarse one closes again. Where such a square alone is left, as of two rods of a
        parallelogram that are too long and too short by as much, a step goes half of the way:
        ``fine`` is then 2, and ``quick`` ones end where each leaves a quarter of a gap.
        """
        best, size = self, self.gap
        for _ in range(STEPS):
            half_way = best._step(fine, fine=True) if fine else best
            found = half_way._step(1.0, within=tolerance)
            before, size = size, found.gap
            moved = float(np.linalg.norm(found.total - best.total))
            if size < before and np.linalg.norm(found.total) <= tolerance:
                best = found
            # the next step would be the square of this one
            enough = LOOP_DRIFT if fine else ROUNDED_GAP
            part = QUICKLY if quick and size < NEARLY_CLOSED else ENOUGH
            if size < enough or not size < part * before or moved < ROUNDED_STEP:
                break
        return best

    def _step(self, factor: float, fine: bool = False, within: float = math.inf) -> _Closing:
        """The same after one step; as it is where all displacements would not be within this."""
        least = FINE_DISPLACEMENT_NOISE if fine else LEAST_DISPLACEMENT_NOISE
        noise = max(self.gap if fine else LEVER * self.gap, least)
        step = self._gauss_newton(min(noise, DISPLACEMENT_NOISE))
        if step is None or not (fine or step[2] < ENOUGH * self.gap):
            return self
        d, dq = factor * step[0], factor * step[1]
        if np.linalg.norm(self.total + d) > within:
            return self
        start = self.linkage
        model = with_frames_of(start.model, start.frames.moved(d))
        return dataclasses.replace(
            self,
            linkage=LoopGeometry(model, displaced=True),
            postures=start.space.move(self.postures, dq * start.speed_units),
            total=self.total + d,
        )

    def _gauss_newton(self, noise: float) -> tuple[Array, Array, float] | None:
        """Displacements of frames (size,) and steps of postures (m, nv) that close the loops.

        With what they leave of gaps but for squares.
        """
        linkage, postures, rank = self.linkage, self.postures, self.rank
        r, K = linkage.residual(postures), linkage.jacobian(postures)
        D = linkage.displaced(postures)
        if not linkage.frames.size or not all(np.isfinite(x).all() for x in (r, K, D)):
            return None
        U, values, Vt = np.linalg.svd(K)
        if (values[:, :rank] <= EXACT_RANK * values[:, :1]).any():
            return None
        left = np.swapaxes(U[:, :, rank:], 1, 2)
        A, b = left @ D, -np.einsum("mij,mj->mi", left, r)
        A, b = A.reshape(-1, linkage.frames.size), b.ravel()
        if self.held:
            A, b = A[left.shape[1] :], b[left.shape[1] :]
            A, b = np.concatenate([D[0], A]), np.concatenate([-r[0], b])
        P, apart = self._apart
        d = least_norm(np.concatenate([A, P]), np.concatenate([b, -apart]), noise)
        along = np.einsum("mji,mj->mi", U[:, :, :rank], r + D @ d) / values[:, :rank]
        dq = -np.einsum("mij,mi->mj", Vt[:, :rank], along)
        if self.held:
            dq[0] = 0.0
        left_open = r + D @ d + np.einsum("mij,mj->mi", K, dq)
        return d, dq, max(float(np.abs(x).max(initial=0.0)) for x in (left_open, apart + P @ d))


def _fewer(postures: Array, rank: int, letter: LoopGeometry) -> Array:
    """As many of the postures as determine the displacements, the first among them."""
    redundant = max(len(letter.units) - rank, 1)
    count = min(max(math.ceil(1.5 * letter.frames.size / redundant), 12), POSTURES, len(postures))
    chosen = np.unique(np.linspace(0, len(postures) - 1, count).round().astype(int))
    return np.asarray(postures[chosen])
