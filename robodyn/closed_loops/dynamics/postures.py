"""Postures and velocities of a linkage whose loops stay closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.continuation import Continuation
from robodyn.closed_loops.assembly.long_searches import search
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.open_loops import (
    Cuts,
    described_cuts,
    largest_gap,
    loop_gaps,
    placed_frames,
)
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.errors import AssemblyError, ShapeError
from robodyn.evaluator import Evaluator, Request
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices
from robodyn.model.states import overflow
from robodyn.parts.configuration_space import ConfigurationSpace, FollowingPositions
from robodyn.parts.postures import TreePostures, one_guess
from robodyn.results import LoopGap
from robodyn.tolerances import POSTURE_CLOSED


class LoopPostures:
    """The postures of a closed linkage."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        closer: LoopCloser,
        mobility: Mobility,
        projection: Projection,
        consistency: Consistency,
        following: FollowingPositions,
    ) -> None:
        self._model, self._rows, self._space = model, rows, space
        self._evaluator = evaluator
        self._closer, self._mobility, self._projection = closer, mobility, projection
        self._consistency, self._following = consistency, following
        self._continuation = Continuation(model, rows, space, closer, projection)

    @property
    def dof(self) -> int:
        """Mobility at the neutral posture, or beside it if that is singular."""
        return self._mobility.dof

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """Joints whose motion determines that of all others."""
        return self._mobility.independent_joints

    @property
    def independent_speeds(self) -> tuple[int, ...]:
        """Their indices in v."""
        return self._mobility.analysis.independent

    @property
    def redundant_constraints(self) -> dict[str, tuple[str, ...]]:
        """Constraint rows that follow from others, and from which."""
        return self._mobility.redundant_constraints

    def mobility(self, q: ArrayLike) -> int:
        """Degrees of freedom at a posture."""

        def at(q: ArrayLike) -> int:
            x = self._space.positions("q", q)
            return self._mobility.at(self._projection.posture(x), self._rows)  # refuses several

        def one(found: Array, q: ArrayLike) -> int:
            return at(q) if found.ndim else int(found)

        freedoms: int = self._evaluator.answer(
            "mobility", (q,), make=one, of_inputs=True, controlled=(),
            fallback=lambda asked: np.array(at(q)),
        )  # fmt: skip
        return freedoms

    def branch_sign(self, q: ArrayLike, path: bool) -> Array:
        """Which of the branches that meet at singular postures a posture is on, shape (...)."""
        return self._mobility.branch_sign(q, path, self._rows)

    def neutral(self) -> Array:
        """The closed posture nearest to the zero position, shape (nq,)."""
        return self._closer.neutral.copy()

    def start(self) -> Array:
        """Start of the search for a closed posture, shape (nq,)."""
        return self._space.start()

    def loop_gaps(self, q: ArrayLike | None) -> tuple[LoopGap, ...]:
        """Poses of both frames of each closure at a posture."""
        guess = one_guess(self._space, q, self._space.start())

        def gaps(found: tuple[Array, Array], q: Array) -> tuple[LoopGap, ...]:
            if found[1].ndim > 1:
                one_guess(self._space, q, q)  # refuses several
            return loop_gaps(self._cuts, found)

        found: tuple[LoopGap, ...] = self._evaluator.answer(
            "loop_gaps", (guess if q is None else q,), make=gaps, of_inputs=True,
            placed=self._placed,
        )  # fmt: skip
        return found

    @cached_property
    def _placed(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        return placed_frames(self._model)

    @cached_property
    def _cuts(self) -> Cuts:
        return described_cuts(self._model)

    def random(self, rng: np.random.Generator) -> Array:
        """A closed posture within the limits, shape (nq,)."""
        with search(f"for a random posture of {self._model.mechanism.name!r}"):
            start = self._closer.regular
            return self._random(self._space.difference(start, self._space.random(rng)))

    def random_each(self, rng: np.random.Generator, count: int) -> Array:
        """As many closed postures within the limits, those of `random` (count, nq)."""
        start = np.broadcast_to(self._closer.regular, (count, self._space.nq))
        if not count:
            return start.copy()
        toward = self._space.difference(start, self._space.random(rng, count))
        free = np.ones(self._space.nv, bool)
        found, done = self._closer.near_each(self._space.integrate(start, toward), free)
        at = np.flatnonzero(done)
        done[at] = self._mobilities(found[at]) == self.dof
        for k in np.flatnonzero(done):
            done[k] = self._following.fit(found[k])
        found = self._unwound(found)
        with search(f"for random postures of {self._model.mechanism.name!r}"):
            for k in np.flatnonzero(~done):
                found[k] = self._random(toward[k])
        return found

    def _mobilities(self, q: Array) -> Array:
        """Degrees of freedom at closed postures, shape (n,)."""
        found = self._evaluator.results(
            "mobility", (q,), controlled=(), fallback=lambda asked: asked.found
        )
        dofs = np.full(len(q), np.nan) if found is None else found.copy()
        for k in np.flatnonzero(np.isnan(dofs)):
            dofs[k] = self.mobility(q[k])
        return dofs

    def _random(self, toward: Array) -> Array:
        # guesses approach a posture that is closed; branches with another mobility are not
        # drawn
        start = self._closer.regular
        last = AssemblyError(f"no other closed posture of {self._model.mechanism.name!r} found")
        for part in (1.0, 0.5, 0.25, 0.1, 0.03):
            try:
                q = self._closer.near(self._space.integrate(start, part * toward), guesses=3)
            except AssemblyError as error:
                last = error
                continue
            if self.mobility(q) == self.dof and self._following.fit(q):
                return self._unwound(q)
        raise last

    def _unwound(self, q: Array) -> Array:
        """Continuous joints within half a turn of zero, where no coupling counts their turns."""
        if self._model.bodies.coupled or self._model.setup.coupled:
            return q
        joints = self._model.joints.values()
        at = [j.q.start for j in joints if not j.kind.limited and j.q.stop > j.q.start]
        q = q.copy()
        q[..., at] = np.remainder(q[..., at] + np.pi, 2.0 * np.pi) - np.pi
        return q

    def assemble(
        self,
        q: ArrayLike | None,
        hold: tuple[str, ...],
        near: ArrayLike | None,
        beyond_limits: bool = False,
    ) -> Array:
        """The closed posture near a guess, or on the branch of another one, shape (nq,)."""
        guess = one_guess(self._space, q, self._space.start())
        if near is not None:
            return self._on_branch(guess, hold or self.independent_joints, near)
        closed = self._closed_already(guess if q is None else q, hold, beyond_limits)
        if closed is not None:
            return closed
        if not beyond_limits:
            self._check_held(guess, hold)
        free = self._free(hold)
        try:
            return self._closer.near(guess, free, beyond=beyond_limits)
        except AssemblyError as error:
            in_the_way = self._closer.closed_beyond_limits(error.q, free)
            raise AssemblyError(
                f"{error}{in_the_way}", residual=error.residual, q=error.q
            ) from None

    def assemble_each(
        self, q: Array, hold: tuple[str, ...], beyond_limits: bool
    ) -> tuple[Array, Array]:
        """Closed postures that `assemble` finds at once near guesses (n, nq), and where, (n,)."""
        free = self._free(hold)
        if q.shape[-1] != self._space.nq or not all_finite(q):
            return q, np.zeros(len(q), bool)
        guess = self._space.normalised("q", q)
        found, done = self._closer.near_each(guess, free, beyond=beyond_limits)
        for name in () if beyond_limits else hold:
            done &= self._within(guess, name)
        return found, done

    def _closed_already(
        self, guess: ArrayLike, hold: tuple[str, ...], beyond_limits: bool
    ) -> Array | None:
        """A copy of a guess if it is closed; later calls of this form go to machine code."""
        _ = self._free(hold)  # refuses names of no joint
        if not beyond_limits and self._closer.cut_limits.any:
            return None
        lower, upper = self._model.lower.tolist(), self._model.upper.tolist()
        limits = () if beyond_limits else tuple(zip(range(len(lower)), lower, upper, strict=True))
        quaternions = tuple(tuple(map(int, row)) for row in self._model.quaternions)

        def posture(found: Array, q: Array) -> Array:
            if found.ndim > 1:
                one_guess(self._space, q, q)  # refuses several
            return np.asarray(found, float)

        found = self._evaluator.call(
            "closed_posture", (guess,), method="assemble", make=posture, of_inputs=True,
            bounds=limits, quaternions=quaternions,
        )  # fmt: skip
        return found if all_finite(found) else None

    def _check_held(self, guess: Array, hold: tuple[str, ...]) -> None:
        """Refuse to hold a joint beyond its limits."""
        for name in hold:
            if not self._within(guess, name):
                part = self._model.joints[name].q
                low, high = self._model.lower[part], self._model.upper[part]
                raise AssemblyError(
                    f"{name!r} is to be held at {_shown(guess[part])}, but its limits are "
                    f"{_shown(low)} to {_shown(high)}",
                    residual=np.zeros(0),
                    q=guess,
                )

    def _within(self, q: Array, name: str) -> Array:
        """Whether coordinates of one joint are within its limits, shape (...)."""
        joint = self._model.joints.get(name)
        part = slice(0, 0) if joint is None else joint.q
        low, high = self._model.lower[part], self._model.upper[part]
        return np.asarray(((low <= q[..., part]) & (q[..., part] <= high)).all(axis=-1))

    def _free(self, hold: tuple[str, ...]) -> Array:
        free = np.ones(self._space.nv, bool)
        for name in hold:
            free[list(speed_indices(self._model, name))] = False
        return free

    def _on_branch(self, goal: Array, hold: tuple[str, ...], near: ArrayLike) -> Array:
        name = self._model.mechanism.name
        residual = self._rows.position_rows().residual
        start = self._space.positions("near", near)
        if start.ndim != 1 or not np.isfinite(start).all():
            raise ShapeError("near is not one posture of finite numbers", name="near", given=start)
        gap = residual(start)
        if not np.abs(gap).max(initial=0.0) < POSTURE_CLOSED:
            loop, size = largest_gap(self._model, gap)
            raise AssemblyError(
                f"near is not a closed posture of {name!r}: {loop!r} is open by {size}; "
                "assemble(near) closes it",
                residual=gap,
                q=start,
            )
        held = [k for joint in hold for k in speed_indices(self._model, joint)]
        with search(f"a way along one branch of {name!r}"):
            found = self._continuation.follow(start, goal, held)
        if not found.end:
            return found.q
        missing = self._space.difference(found.q, goal)[held]
        worst = int(np.abs(missing).argmax())
        joint = next(
            n for n in self._model.joint_names if held[worst] in speed_indices(self._model, n)
        )
        info = self._model.joints[joint]
        unit = info.kind.unit(held[worst] - info.v.start)
        meeting = "two ways to assemble it meet"
        why = meeting if found.end == "branch" else f"{found.end!r} is at its limit"
        raise AssemblyError(
            f"{name!r} does not get there from that posture with its loops closed: {joint!r} "
            f"is {abs(missing[worst]):.3g} {unit} from its goal where {why}",
            residual=residual(found.q),
            q=found.q,
        )

    def _held(self, hold: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(sorted({k for joint in hold for k in speed_indices(self._model, joint)}))

    def closed_state(self, q: ArrayLike, v: ArrayLike, free: Array | None) -> tuple[Array, Array]:
        """The closed state near one that has drifted a little."""
        if free is not None:
            return self._projection.state(q, v, free)
        found: tuple[Array, Array] = self._evaluator.answer(
            "closed_state", (q, v), controlled=(),
            fallback=lambda asked: self._projection.state(q, v, None),
        )  # fmt: skip
        return found

    def consistent_velocity(self, q: ArrayLike, v: ArrayLike, hold: tuple[str, ...]) -> Array:
        """The possible velocity nearest to a given one, shape (..., nv)."""

        def nearest(asked: Request) -> Array:
            self._consistency.check_position(q)
            with self._holding("speeds", q, hold) as free:
                with np.errstate(over="ignore", invalid="ignore"):
                    found = self._projection.velocity(q, v, free)
            return self._finite("consistent_velocity", found, {"q": q, "v": v})

        return self._evaluator.call(
            "consistent_velocity", (q, v), controlled=self._held(hold), fallback=nearest
        )

    @contextmanager
    def _holding(self, what: str, q: ArrayLike, hold: tuple[str, ...]) -> Iterator[Array]:
        """The free speeds, as a context in which errors name what contradicts the held ones."""
        free = self._free(hold)
        try:
            yield free
        except AssemblyError as error:
            if np.ndim(q) != 1 or not hold:
                raise
            missed = np.abs(error.residual)
            told = self._contradiction(what, np.asarray(q, float), free, hold, missed)
            raise AssemblyError(told, residual=error.residual, q=q) from None

    def _contradiction(
        self, what: str, q: Array, free: Array, hold: tuple[str, ...], missed: Array
    ) -> str:
        """Why held speeds, or accelerations, contradict the loops at a posture."""
        held, freedom = ", ".join(map(repr, hold)), self.mobility(q)
        told = (
            f"the {what} of {held} contradict the loops of {self._model.mechanism.name!r}: "
            f"{self._rows.names[int(missed.argmax())]} is missed by {missed.max():.3g}; "
        )
        if (~free).sum() > freedom:
            return f"{told}{freedom} {what} can be chosen there: hold fewer, or what fits together"
        sizes = np.linalg.svd(self._rows.measured_jacobian(q)[:, free], compute_uv=False)
        return (
            f"{told}at q = {_shown(q)} they do not determine the others: without their columns the "
            f"least singular value of loop_jacobian is {sizes[self._space.nv - freedom - 1]:.2g}, "
            "in the longest link; hold other joints, or take another posture"
        )

    def consistent_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, hold: tuple[str, ...]
    ) -> Array:
        """The possible acceleration nearest to a given one, shape (..., nv)."""

        def nearest(asked: Request) -> Array:
            self._consistency.check(q, v)
            with self._holding("accelerations", q, hold) as free:
                with np.errstate(over="ignore", invalid="ignore"):
                    found = self._projection.acceleration(q, v, a, free)
            return self._finite("consistent_acceleration", found, {"q": q, "v": v, "a": a})

        return self._evaluator.call(
            "consistent_acceleration", (q, v, a), controlled=self._held(hold), fallback=nearest
        )

    def _finite(self, name: str, found: Array, given: Mapping[str, ArrayLike]) -> Array:
        """A projection, after a check that it has not overflown."""
        if not all_finite(found):
            wrong = np.asarray(~np.isfinite(found).all(axis=-1))
            raise overflow(self._model, name, given, wrong)
        return found


def _shown(x: Array) -> str:
    return ", ".join(f"{value:.6g}" for value in x)


#: Closed postures of a robot, and velocities that keep them closed; all of them for a tree.
Postures: TypeAlias = TreePostures | LoopPostures
