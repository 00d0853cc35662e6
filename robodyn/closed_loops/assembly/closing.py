"""Closing the loops of a linkage, near a guess and within limits."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.caller import warn
from robodyn.closed_loops.assembly.long_searches import going_on, search
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows, PositionRows
from robodyn.closed_loops.constraints.cut_joints import CutStart, UncoordinatedLimits, WithCuts
from robodyn.closed_loops.constraints.open_loops import largest_gap, open_loops, placed_frames
from robodyn.closed_loops.constraints.singular_start import regular_beside
from robodyn.closed_loops.solvers import assemble, assemble_each, null_space, rank_analysis
from robodyn.description import Joint
from robodyn.errors import AssemblyError, SingularWarning, TopologyError
from robodyn.model.model import Model
from robodyn.model.turns import nearest_turns
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import AT_LIMIT, LOOP_CLOSED, STILL, WALK_RANK

#: Number of starts around the guess for each start anywhere within the limits.
AROUND = 2

#: Number of speeds beyond which steps to other postures are such as loops allow, since those of all
#: joints add up, and the longest of them [rad, m].
SHORT, STEP = 32, 0.1


class LoopCloser:
    """Finds positions at which the loops of a linkage are closed.

    ``cut_limits`` are those of cut joints, and of joints that follow others.
    """

    def __init__(
        self,
        model: Model,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        cut_limits: UncoordinatedLimits,
        cut_start: CutStart,
    ) -> None:
        self._model, self._rows, self._space = model, rows, space
        self.cut_limits, self._cut_start = cut_limits, cut_start

    @property
    def neutral(self) -> Array:
        """The closed posture nearest to the start, shape (nq,); a failed search is remembered.

        Beside it, where it is singular and the user has not named it.
        """
        found = self._nearest if self._model.settings.near else self.regular
        return self._space.begun(found)

    @property
    def _nearest(self) -> Array:
        found = self._neutral
        if isinstance(found, TopologyError):
            raise found.with_traceback(None)
        return found

    @cached_property
    def regular(self) -> Array:
        """The neutral posture, or a closed one beside it if it is singular, shape (nq,)."""
        nearest, rows = self._nearest, self._rows.interpreted_position_rows()
        close = functools.partial(self._soon, self.closed, free=self._all, guesses=3)
        with search(f"for a regular posture of {self._model.mechanism.name!r}"):
            q, gained = regular_beside(nearest, rows, self._space, close)
        if gained:
            dof = self._space.nv - int(rank_analysis(self._rows.interpreted_jacobian(q)).rank)
            started = self._model.settings.near is not None
            message = (
                f"{'the start' if started else 'the zero position'} of "
                f"{self._model.mechanism.name!r} is singular: mobility {dof + gained} there, {dof} "
                f"in regular postures, which dof tells; neutral() is "
                f"{'singular' if started else 'a regular posture near it'}"
            )
            warn(SingularWarning(message))
        K = rows.jacobian(q)
        still = np.abs(null_space(K)).max(axis=1, initial=0.0) < STILL
        if (K != 0.0).any(axis=0)[still].any():
            from robodyn.closed_loops.assembly.misfits import tell_of_stiff_loops

            tell_of_stiff_loops(self._model, q)
        return q

    @cached_property
    def _neutral(self) -> Array | TopologyError:
        with search(f"for the neutral posture of {self._model.mechanism.name!r}"):
            return self._found_neutral()

    def _found_neutral(self) -> Array | TopologyError:
        start = self._space.start()
        if self._cut_start:
            start = self._toward_cut_start(start)
        try:
            if not self._unnamed.all():
                try:
                    return self._from_start(start, self._unnamed, 3)
                except AssemblyError:
                    pass  # not with these joints just there
            return self._from_start(start, self._all)
        except AssemblyError as error:
            in_the_way = self.closed_beyond_limits(error.q, self._all)
            return TopologyError(
                f"{error}{in_the_way}. Load with near={{joint: position}} to search elsewhere; "
                f"{self._to_mend(error)}",
                file=self._model.mechanism.file,
                element=f"robot {self._model.mechanism.name!r}",
            )

    def _from_start(self, start: Array, free: Array, guesses: int = 20) -> Array:
        """A closed posture near a start, beyond limits only if the start is.

        A start that is closed stays as it is. Any other one that is beyond limits is taken within
        them, if the loops close there.
        """
        found, missed = start, None
        try:
            found = self._soon(self._within_cut_limits, start, free, guesses)
        except AssemblyError as error:
            missed = error
        stays = missed is None and np.array_equal(found, start)
        if not (self._inside(start) or stays or (missed is None and self._inside(found))):
            with contextlib.suppress(AssemblyError):  # they close beyond limits only, or nowhere
                return self.near(start, free, guesses)
        if missed is not None:
            raise missed
        return found

    def _inside(self, q: Array) -> bool:
        return bool(((self._model.lower <= q) & (q <= self._model.upper)).all())

    def _to_mend(self, error: AssemblyError) -> str:
        """Likely mistakes in the description, for the message of an error."""
        from robodyn.closed_loops.assembly.misfits import remedy

        settings, mechanism = self._model.settings, self._model.mechanism
        if (mended := remedy(mechanism.written or mechanism, settings)) is not None:
            rigid = "without rigid=True and " * settings.rigid
            return (
                f"{mended}: mend the numbers, or load {rigid}with {mended.option} to have that done"
            )
        name = largest_gap(self._model, error.residual)[0]
        cuts = self._model.tree.cuts
        opened = [cut for cut in cuts if cut.name == name]
        if not opened:
            return f"if it should close here, mend constraint {name!r}, or what contradicts it"
        from robodyn.closed_loops.assembly.rounded_linkage import closed_by_one_frame
        from robodyn.urdf.write import loop_element

        told = "this is the closure to mend: "
        moved = closed_by_one_frame(self._model, np.asarray(error.q), name)
        if moved is not None:
            mechanism, stiff = moved
            but = ", though no joint in some loops can move then" * stiff
            told = f"moved to where it closes{but}, this is the closure to mend: "
            opened = [mover for mover in mechanism.movers if mover.name == name]
        if any(isinstance(cut, Joint) for cut in cuts):  # may be a tree with a wrong name in it
            told = f"if a second parent is a typing error, mend it; if not, {told}"
            opened = list(cuts)
        return told + " ".join(map(loop_element, opened))

    def _toward_cut_start(self, start: Array) -> Array:
        """A posture with the cut joints that the start names at, or as near as possible to, it."""

        def close(
            guess: Array, free: Array, rows: PositionRows, guesses: int, beyond: bool
        ) -> Array:
            return self.closed(guess, free, WithCuts(rows, self._cut_start), guesses, beyond=beyond)

        for free in (self._unnamed, self._all):  # named joints stay if they can
            try:
                return self._soon(close, start, free)
            except AssemblyError as error:
                nearest = error.q
        return np.asarray(nearest)

    def _soon(
        self, close: Callable[..., Array], guess: Array, free: Array, guesses: int = 20
    ) -> Array:
        """A closed posture near a guess, without a compiler if the first attempt gets there."""
        try:
            return close(guess, free, self._rows.interpreted_position_rows(), 0, beyond=True)
        except AssemblyError:  # many more evaluations take longer than compiling
            return close(guess, free, self._rows.position_rows(), guesses, beyond=True)

    @property
    def _unnamed(self) -> Array:
        """Speeds of joints that the start does not name; the search moves these first."""
        free = self._all
        near = self._model.settings.near or ()
        for name in (entry[0] for entry in near if isinstance(entry, tuple)):
            free[self._model.joints[name].v] = False
        return free

    @property
    def _all(self) -> Array:
        return np.ones(self._space.nv, bool)

    def nearby(self, q: Array, rng: np.random.Generator) -> Array:
        """Another closed posture near a closed one, within limits where loops close there."""
        step = rng.uniform(-0.3, 0.3, self._space.nv)
        if len(step) > SHORT:
            K = self._rows.interpreted_position_rows().jacobian(q)
            step = step - np.linalg.lstsq(K, K @ step, rcond=WALK_RANK)[0]
            step *= rng.uniform(0.5, 1.0) * STEP / max(float(np.abs(step).max()), AT_LIMIT)
        moved = self._space.move(q, step)
        lower, upper = np.minimum(self._model.lower, q), np.maximum(self._model.upper, q)
        try:
            return self._soon(self.closed, np.clip(moved, lower, upper), self._all)
        except AssemblyError:
            return self._soon(self.closed, moved, self._all)

    def near(
        self, guess: Array, free: Array | None = None, guesses: int = 20, *, beyond: bool = False
    ) -> Array:
        """A closed posture near a guess, shape (nq,); with cut joints within their limits, too.

        It may move along the ``free`` speeds, a mask (nv,), from the given start and others. With
        ``beyond`` a coordinate that is beyond a limit in the guess may stay there, and cut joints
        may be anywhere.
        """
        free = self._all if free is None else free
        rows = self._rows.position_rows()
        if beyond:
            return self.closed(guess, free, rows, guesses, beyond=True)
        return self._within_cut_limits(guess, free, rows, guesses)

    def near_each(
        self, guesses: Array, free: Array, *, beyond: bool = False
    ) -> tuple[Array, Array]:
        """Closed postures (n, nq) that `near` finds from the guesses themselves, all at once.

        Also which of them are found, (n,): of the others nothing is said.
        """
        rows, space = self._rows.position_rows(), self._space
        lower, upper = (np.broadcast_to(x, guesses.shape)
                        for x in (self._model.lower, self._model.upper))  # fmt: skip
        if beyond:
            lower, upper = np.minimum(lower, guesses), np.maximum(upper, guesses)
        inside = ((lower <= guesses) & (guesses <= upper)).all(axis=1)
        gap = np.abs(rows.residual(guesses)).max(axis=1, initial=0.0)
        found, done = guesses.copy(), inside & (gap < LOOP_CLOSED)
        if (open_ := np.flatnonzero(~done)).size:
            guess, low, high = guesses[open_], lower[open_], upper[open_]
            q, done[open_] = assemble_each(
                rows.residual, rows.jacobian, space.move, guess, free, low, high, LOOP_CLOSED
            )
            found[open_] = nearest_turns(self._model, q, guess, low, high)
        if not beyond and self.cut_limits.any:
            done[done] = [not self.cut_limits.beyond(q) for q in found[done]]
        return found, done

    def _within_cut_limits(
        self,
        guess: Array,
        free: Array,
        rows: PositionRows,
        guesses: int = 20,
        *,
        beyond: bool = False,
    ) -> Array:
        """The same, with cut joints within their limits."""
        found = self.closed(guess, free, rows, guesses, beyond=beyond)
        if not self.cut_limits.beyond(found):
            return found
        limited = WithCuts(rows, self.cut_limits)
        try:
            return self.closed(guess, free, limited, guesses, beyond=beyond)
        except AssemblyError:
            raise AssemblyError(
                f"the loops of {self._model.mechanism.name!r} close near the guess, but not within "
                f"all limits: {self.cut_limits.describe(found)}",
                residual=rows.residual(found),
                q=found,
            ) from None

    def closed(
        self,
        guess: Array,
        free: Array,
        rows: PositionRows | WithCuts,
        guesses: int = 20,
        *,
        beyond: bool = False,
    ) -> Array:
        """A closed posture near a guess, by given functions of the position.

        Searches start at the guess, then around it, farther and farther away, and then anywhere
        within the limits.
        """
        lower, upper = self._model.lower, self._model.upper
        if beyond:
            lower, upper = np.minimum(lower, guess), np.maximum(upper, guess)
        if (beyond or self._inside(guess)) and np.abs(rows.residual(guess)).max(
            initial=0.0
        ) < LOOP_CLOSED:
            return guess.copy()
        try:
            with search(f"for a closed posture of {self._model.mechanism.name!r}"):
                found = assemble(
                    rows.residual,
                    rows.jacobian,
                    self._space.move,
                    guess,
                    free=free,
                    lower=lower,
                    upper=upper,
                    guesses=guesses,
                    others=self._anywhere(guess, free, guesses // AROUND),
                    closed=LOOP_CLOSED,
                    tell=going_on,
                )
            return nearest_turns(self._model, found, guess, lower, upper)
        except AssemblyError as error:
            if isinstance(rows, WithCuts):
                raise  # it is told which limits, not which loop
            raise AssemblyError(
                open_loops(self._model, self._gaps, guess, error),
                residual=error.residual,
                q=error.q,
            ) from None

    def closed_beyond_limits(self, q: ArrayLike | None, free: Array) -> str:
        """Which joints are in the way, in words, if loops close near a posture without limits."""
        lower, upper = self._model.lower, self._model.upper
        rows = self._rows.position_rows()
        try:
            found = assemble(
                rows.residual, rows.jacobian, self._space.move, np.asarray(q), free=free,
                guesses=0, closed=LOOP_CLOSED,
            )  # fmt: skip
        except AssemblyError:
            return ""
        found = nearest_turns(self._model, found, found, lower, upper)
        out = [
            f"{name!r} at {found[k]:.4g}, its limits are {lower[k]:.4g} to {upper[k]:.4g}"
            for name, joint in self._model.joints.items()
            for k in range(joint.q.start, joint.q.stop)
            if not lower[k] <= found[k] <= upper[k]
        ]
        return f"; without limits they close, with {'; '.join(out)}" if out else ""

    def _anywhere(self, guess: Array, free: Array, count: int) -> Iterator[Array]:
        """Postures within the limits, the same at each call; what may not move is as in a guess."""
        rng, joints = np.random.default_rng(0), self._model.joints.values()
        moving = [j.q for j in joints if free[j.v].all()]
        for _ in range(count):
            drawn, q = self._space.random(rng), guess.copy()
            for part in moving:
                q[part] = drawn[part]
            yield q

    def _gaps(self, q: Array) -> tuple[Array, Array]:
        """What `loop_gaps` takes of a posture, without a compiler."""
        return self._rows.interpreted_gaps(q, placed_frames(self._model))
