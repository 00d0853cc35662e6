"""Inverse kinematics: postures in which frames are where they are wanted."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import by_name, checked, numbers, refuse_not_finite, truth
from robodyn.codegen import Function, Memo
from robodyn.codegen.iteration import Iteration
from robodyn.configuration_space import ConfigurationSpace
from robodyn.errors import AssemblyError, ConvergenceWarning, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.motion.base_motion import BaseMotion, check_rigid
from robodyn.results import IKResult

__all__ = ["InverseKinematics", "Targets"]

#: Poses (..., 4, 4) or points (..., 3) by frame.
Targets = Mapping[str, ArrayLike]

STEP = "inverse_kinematics_step"

#: Errors [m, rad] that steps are made for, and below which a target is reached.
WANTED, REACHED = 1e-10, 1e-9
#: Steps [rad, m] that lead nowhere: toward targets, and toward a posture.
STUCK, SETTLED = 1e-11, 1e-8
#: Steps from each start, toward a preferred posture before, and to settle at last.
STEPS, POSTURE_STEPS, LAST_STEPS = 30, 300, 400
#: Starts after the given one, without loops and with loops, and what makes them, with their number.
RESTARTS, LOOP_RESTARTS, SEED = 100, 20, 7919
#: Damping as a part of the square of the error, and its bound: for targets that may be reached, and
#: for those that seem to be out of reach.
QUICK, SHORT = np.array([0.1, 0.1]), np.array([0.5, np.inf])
#: Out of reach: random starts that are tried as well, by how much another posture has to be nearer,
#: steps [rad, m] at the last that swing, and how often they are damped by so much more.
OTHERS, NEARER, SWINGING, CALMED, CALMER = 4, 1e-6, 1e-4, 6, 8.0
#: Stands for no limit [rad, m].
FAR = 1e9


class _Postures(Protocol):
    """What knows closed postures: `robodyn.postures.Postures`, or like it."""

    def neutral(self) -> Array:
        """The possible posture nearest to the zero position, shape (nq,)."""

    def random(self, rng: np.random.Generator) -> Array:
        """A possible posture within the limits, shape (nq,)."""

    def assemble(
        self,
        q: ArrayLike | None,
        hold: tuple[str, ...],
        near: ArrayLike | None,
        beyond_limits: bool = False,
    ) -> Array:
        """The possible posture near a guess, shape (nq,)."""


class _Choices(NamedTuple):
    """What shapes the code: frames, those of which only the origin counts, limits, a posture."""

    frames: tuple[str, ...]
    points: tuple[str, ...]
    limits: bool
    posture: bool = False


class InverseKinematics:
    """Searches for postures of one robot.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    space : ConfigurationSpace
    postures : Postures
    """

    def __init__(
        self, model: Model, evaluator: Evaluator, space: ConfigurationSpace, postures: _Postures
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._space, self._postures = space, postures
        self._iterations: Memo[Iteration] = Memo()
        self._starts: dict[int, Array | None] = {}
        self._middle: Array | None = None
        self._lower, self._upper = model.lower, model.upper

    def solve(
        self,
        targets: Targets,
        q0: ArrayLike | None,
        limits: bool,
        posture: ArrayLike | None,
        base: BaseMotion | None,
    ) -> IKResult:
        """Postures for targets; arguments as of `Robot.inverse_kinematics`."""
        arrays, limits = _arrays(targets), truth("limits", limits)
        points = tuple(name for name, x in arrays.items() if x.shape[-2:] != (4, 4))
        choices = _Choices(tuple(arrays), points, limits)
        wish = None if posture is None else self._wish(posture, limits)
        start = self._start(q0, wish)
        batches = [x.shape[: -1 if n in points else -2] for n, x in arrays.items()]
        batch = _together(batches, arrays, start, wish)
        search = _Search(self, choices, arrays, batch, wish, base)
        q, error = search.found(start)
        reached = error <= REACHED
        if not reached.all():
            search.refuse_wrong(arrays)
            left = np.flatnonzero(~reached)
            q[left] = self._closed(q[left])
            error[left] = self._distance(q[left], arrays, points, batch, left, base)
            reached = error <= REACHED
        result = IKResult(
            q.reshape(*batch, self._space.nq),
            error.reshape(batch)[()],
            reached.reshape(batch)[()],
            self._model.joints,
        )
        if not reached.all():
            self._announce(result)
        return result

    def _announce(self, result: IKResult) -> None:
        """Warn once that targets are out of reach, as far as the search has seen."""
        missed = int(np.sum(~np.asarray(result.converged)))
        count = (
            f"{missed} of {result.converged.size} targets" if result.q.ndim > 1 else "the target"
        )
        limits = ", ".join(result.at_limits)
        message = (
            f"no posture of {self._model.mechanism.name!r} was found that reaches {count}: the "
            f"nearest is {np.max(result.residual):.3g} (m, rad) away"
            + (f", with joints at their limits: {limits}" if limits else "")
            + "; .converged and .residual of the result say where"
        )
        warnings.warn_explicit(message, ConvergenceWarning, filename="robodyn", lineno=0)

    # -- starts -------------------------------------------------------------------------------

    def _wish(self, posture: ArrayLike, limits: bool) -> FloatArray:
        """The preferred posture: nothing is wished beyond a limit."""
        wish = checked("posture", posture, self._space.nq, of=self._model.mechanism.name)
        return self.within(wish, limits)

    def _start(self, q0: ArrayLike | None, wish: FloatArray | None) -> FloatArray:
        """Where the search begins, shape (..., nq)."""
        if q0 is not None:
            start = checked("q0", q0, self._space.nq, of=self._model.mechanism.name)
            return self._space.normalised("q0", start) if self._model.has_quaternions else start
        if wish is not None:
            return self._space.normalised("posture", wish)
        if self._middle is None:
            self._middle = self._postures.neutral()
        return self._middle

    @property
    def restarts(self) -> int:
        """How many other starts there are."""
        return LOOP_RESTARTS if self._model.setup.closed else RESTARTS

    def restart(self, k: int) -> Array | None:
        """The k-th other start, which depends on nothing else, shape (nq,), if one is found."""
        if k not in self._starts:
            try:
                self._starts[k] = self._postures.random(np.random.default_rng([SEED, k]))
            except AssemblyError:
                self._starts[k] = None
        return self._starts[k]

    def within(self, q: FloatArray, limits: bool) -> FloatArray:
        """Postures moved within the limits, a copy."""
        return np.minimum(np.maximum(q, self._lower), self._upper) if limits else np.array(q)

    def _closed(self, q: FloatArray) -> FloatArray:
        """Postures with loops closed, shape (n, nq); the neutral one where none is near."""
        if not self._model.setup.closed:
            return q
        closed = q.copy()
        for k, row in enumerate(q):
            try:
                closed[k] = self._postures.assemble(row, (), None)
            except AssemblyError:
                closed[k] = self._postures.neutral()
        return closed

    # -- functions ----------------------------------------------------------------------------

    def iteration(self, choices: _Choices) -> Iteration:
        """The machine code that does steps."""
        return self._iterations.get(choices, lambda: self._made(choices))

    def _made(self, choices: _Choices) -> Iteration:
        lower, upper = self._lower, self._upper
        flat = tuple(
            (n, k)
            for block in self._model.blocks
            if block.kind.coordinates.flat
            for n, k in zip(
                range(block.q.start, block.q.stop), range(block.v.start, block.v.stop), strict=True
            )
        )
        speed = dict(flat)
        bounds = tuple(
            (n, speed.get(n, -1), max(float(lower[n]), -FAR), min(float(upper[n]), FAR))
            for n in range(self._space.nq)
            if choices.limits and (np.isfinite(lower[n]) or np.isfinite(upper[n]))
        )
        function: Function = self._evaluator.function(
            STEP,
            frames=choices.frames,
            points=choices.points,
            bounds=bounds,
            **({"posture": True, "flat": flat} if choices.posture else {}),
        )
        # in the null space a posture improves when the targets are reached
        ends = (-1.0, SETTLED) if choices.posture else (WANTED, STUCK)
        return Iteration(function, *ends)

    def surroundings(self, base: BaseMotion | None) -> list[tuple[FloatArray, int]]:
        """Motion of the base and time, the same for all rows."""
        found = self._evaluator.surroundings(STEP, base)
        for x in found[:-1] if len(found) == 4 else found:
            if x.ndim > 2:
                raise ShapeError(
                    f"base has shape {x.shape}, expected one motion", name="base", given=x.shape
                )
        return [(np.ascontiguousarray(x, float), 0) for x in found]

    def _distance(
        self,
        q: FloatArray,
        arrays: Mapping[str, FloatArray],
        points: tuple[str, ...],
        batch: tuple[int, ...],
        rows: Array,
        base: BaseMotion | None,
    ) -> FloatArray:
        """Root of the sum of squares of distances and angles to the targets, shape (n,)."""
        X = self._evaluator.call("frame_poses", (q,), frames=tuple(arrays), base=base)
        square = np.zeros(len(q))
        for k, (name, target) in enumerate(arrays.items()):
            tail = (3,) if name in points else (4, 4)
            goal = np.broadcast_to(target, (*batch, *tail)).reshape(-1, *tail)[rows]
            place = goal if name in points else goal[:, :3, 3]
            square += ((X[:, k, :3, 3] - place) ** 2).sum(axis=-1)
            if name not in points:
                apart = np.linalg.norm(X[:, k, :3, :3] - goal[:, :3, :3], axis=(-2, -1))
                square += (2.0 * np.arcsin(np.minimum(apart / np.sqrt(8.0), 1.0))) ** 2
        return np.asarray(np.sqrt(square))


class _Search:
    """The search for all rows of one call."""

    def __init__(
        self,
        of: InverseKinematics,
        choices: _Choices,
        arrays: Mapping[str, FloatArray],
        batch: tuple[int, ...],
        wish: FloatArray | None,
        base: BaseMotion | None,
    ) -> None:
        self._of, self._choices, self._batch = of, choices, batch
        self._iteration = of.iteration(choices)
        parts = []
        for name, x in arrays.items():
            tail = (3,) if name in choices.points else (4, 4)
            whole = x if x.shape == (*batch, *tail) else np.broadcast_to(x, (*batch, *tail))
            parts.append(whole.reshape(-1, 3 if len(tail) == 1 else 16))
        goals = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        self._rows = [goals]
        if wish is not None:
            nq = wish.shape[-1]
            wide = np.broadcast_to(wish, (*batch, nq)).reshape(len(goals), nq)
            self._rows.append(wide)
            self._with_posture = of.iteration(choices._replace(posture=True))
        self._fixed = of.surroundings(base)

    def found(self, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Postures (n, nq) and their errors (n,): the first that reach the targets, or the best."""
        n, nq, limits = len(self._rows[0]), start.shape[-1], self._choices.limits
        if start.ndim > 1 or n != 1:
            start = np.broadcast_to(start, (*self._batch, nq))
        q = np.ascontiguousarray(self._of.within(start.reshape(n, nq), limits))
        if n == 0:
            return q, np.zeros(0)
        begun = q.copy()
        error = self._improve(q, None, STEPS)[:, 0]
        left = _open(error)
        for k in range(self._of.restarts if len(left) else 0):
            if not len(left):
                return q, error
            other = self._of.restart(k)
            if other is not None:
                tried = np.repeat(self._of.within(other, limits)[None], len(left), axis=0)
                self._keep(q, error, left, tried, self._improve(tried, left, STEPS)[:, 0])
                left = _open(error)
        if len(left):
            self._nearest(q, error, left, begun[left])
        return q, error

    def _nearest(self, q: FloatArray, error: FloatArray, left: Array, begun: FloatArray) -> None:
        """For targets out of reach: where short steps come to rest from several starts."""
        others = [x for x in map(self._of.restart, range(OTHERS)) if x is not None]
        within = [self._of.within(x, self._choices.limits) for x in others]
        starts = [begun, q[left], *(np.repeat(x[None], len(left), axis=0) for x in within)]
        error[left] = np.inf
        for tried in starts:
            self._keep(q, error, left, tried, self._settled(tried, left), 1.0 + NEARER)

    def _settled(self, q: FloatArray, rows: Array) -> FloatArray:
        """Short steps, in place, and shorter ones where they swing about a posture; errors."""
        damping, own = SHORT.copy(), np.arange(len(rows))
        error, last = self._improve(q, rows, LAST_STEPS, damping).T.copy()
        for _ in range(CALMED):
            own = own[last > SWINGING]
            if not len(own):
                break
            damping[0] *= CALMER
            some = q[own]
            error[own], last = self._improve(some, rows[own], LAST_STEPS, damping).T
            q[own] = some
        return np.asarray(error)

    @staticmethod
    def _keep(
        q: FloatArray,
        error: FloatArray,
        left: Array,
        tried: FloatArray,
        new: FloatArray,
        margin: float = 1.0,
    ) -> None:
        """What was tried for some rows, where it is better."""
        better = ~(new * margin >= error[left])
        q[left[better]], error[left[better]] = tried[better], new[better]

    def _improve(
        self, q: FloatArray, rows: Array | None, steps: int, damping: FloatArray = QUICK
    ) -> FloatArray:
        """Steps of some rows, in place; their errors, and the lengths of their next steps."""
        own = self._rows if rows is None else [x[rows] for x in self._rows]
        goals, *wish = [(np.ascontiguousarray(x), x.shape[1]) for x in own]
        fixed = [(damping, 0), *wish, *self._fixed]
        if wish:
            self._with_posture.run(q, [goals, *fixed], POSTURE_STEPS)
            fixed = [(damping, 0), *self._fixed]
        return self._iteration.run(q, [goals, *fixed], steps)

    def refuse_wrong(self, arrays: Mapping[str, FloatArray]) -> None:
        """Say which targets no frame can have."""
        for name, x in arrays.items():
            point = name in self._choices.points
            refuse_not_finite(f"targets[{name!r}]", x, 1 if point else 2)
            if not point:
                check_rigid(x, f"targets[{name!r}]")


def _open(error: FloatArray) -> Array:
    """Rows whose targets are not reached."""
    return (~(error <= REACHED)).nonzero()[0]


def _arrays(targets: Targets) -> dict[str, FloatArray]:
    """Targets as arrays of double precision.

    Raises
    ------
    ShapeError
    """
    given = by_name("targets", targets)
    if not given:
        raise ShapeError("targets is empty, expected {frame: pose or point}", name="targets")
    arrays = {
        name: numbers(f"targets[{name!r}]", x).astype(float, copy=False)
        for name, x in given.items()
    }
    for name, x in arrays.items():
        if x.shape[-2:] != (4, 4) and x.shape[-1:] != (3,):
            raise ShapeError(
                f"targets[{name!r}] has shape {x.shape}, expected poses (..., 4, 4) or points "
                "(..., 3)",
                name="targets",
                given=x.shape,
                expected="(..., 4, 4) or (..., 3)",
            )
    return arrays


def _together(
    batches: list[tuple[int, ...]],
    arrays: Mapping[str, FloatArray],
    start: FloatArray,
    wish: FloatArray | None,
) -> tuple[int, ...]:
    """Leading axes of all arguments.

    Raises
    ------
    ShapeError
    """
    batches = [*batches, start.shape[:-1], *([] if wish is None else [wish.shape[:-1]])]
    if not any(batches):
        return ()
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        shown = ", ".join(f"targets[{name!r}] {x.shape}" for name, x in arrays.items())
        raise ShapeError(
            f"leading axes do not broadcast: {shown}, q0 {start.shape}"
            + ("" if wish is None else f", posture {wish.shape}"),
            name="targets",
            given=batches,
        ) from None
