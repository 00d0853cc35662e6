"""Inverse kinematics: postures in which frames have given poses or positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import by_name, checked, numbers, refuse_not_finite, truth, wrong_shape
from robodyn.caller import warn
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.codegen import Function, Memo
from robodyn.codegen.iteration import Iteration
from robodyn.errors import ConvergenceWarning, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.inverse_kinematics.search import PostureSearch, open_rows
from robodyn.inverse_kinematics.starts import PostureStarts
from robodyn.model.model import Model
from robodyn.model.turns import nearest_turns
from robodyn.motion.base_motion import BaseMotion, check_rigid
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.results import IKResult
from robodyn.tolerances import STEP_TO_POSTURE, STEP_TO_TARGET, TARGET_REACHED, TARGET_WANTED

#: Poses (..., 4, 4) or points (..., 3) by frame.
Targets = Mapping[str, ArrayLike]

STEP = "inverse_kinematics_step"

#: Stands for no limit [rad, m].
FAR = 1e9


class _Choices(NamedTuple):
    """What shapes the code: frames, those of which only the origin counts, limits, a posture."""

    frames: tuple[str, ...]
    points: tuple[str, ...]
    limits: bool
    posture: bool = False


class InverseKinematics:
    """Searches for postures of one robot."""

    def __init__(
        self, model: Model, evaluator: Evaluator, space: ConfigurationSpace, postures: Postures
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._space = space
        self._iterations: Memo[Iteration] = Memo()
        self.starts = PostureStarts(postures, model.lower, model.upper, model.setup.closed, space)

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
        wish = None if posture is None else self._preferred(posture, limits)
        start = self._start(q0, wish)
        batches = [x.shape[: -1 if n in points else -2] for n, x in arrays.items()]
        batch = _together(batches, arrays, start, wish)
        search = self._search(choices, arrays, batch, wish, base)
        q, error = search.found(self._starts_within(start, limits, batch))
        left = open_rows(error)
        if len(left):
            _refuse_wrong(arrays, points)
            q[left] = self.starts.closed(q[left])
            error[left] = self._distance(q[left], arrays, points, batch, left, base)
        q = self._without_whole_turns(q, start if wish is None else wish, limits, batch)
        q = self._space.relaxed(q)
        reached = error <= TARGET_REACHED
        result = IKResult(
            q.reshape(*batch, self._space.nq),
            error.reshape(batch)[()],
            reached.reshape(batch)[()],
            self._model.joints,
        )
        if len(left) and not reached.all():
            self._warn_out_of_reach(result)
        return result

    def _search(
        self,
        choices: _Choices,
        arrays: Mapping[str, FloatArray],
        batch: tuple[int, ...],
        wish: FloatArray | None,
        base: BaseMotion | None,
    ) -> PostureSearch:
        goals, wished = _rows(arrays, choices.points, batch), None
        if wish is not None:
            wide = np.broadcast_to(wish, (*batch, self._space.nq)).reshape(
                len(goals), wish.shape[-1]
            )
            wished = self.iteration(choices._replace(posture=True)), wide
        fixed = self.surroundings(base)
        iteration = self.iteration(choices)
        return PostureSearch(self.starts, choices.limits, iteration, goals, fixed, wished)

    def _starts_within(self, start: FloatArray, limits: bool, batch: tuple[int, ...]) -> FloatArray:
        """Where the search begins, within limits, shape (n, nq)."""
        if start is self.starts.neutral:
            within = self.starts.neutral_within(limits)
        else:
            within = self.starts.within(start, limits)
        if batch:
            within = np.broadcast_to(within, (*batch, self._space.nq))
        return within.reshape(math.prod(batch), self._space.nq)

    def _without_whole_turns(
        self, q: FloatArray, near: FloatArray, limits: bool, batch: tuple[int, ...]
    ) -> FloatArray:
        """The same postures without whole turns away from one, shape (n, nq)."""
        shape = (*batch, self._space.nq)
        if np.abs(q.reshape(shape) - near).max(initial=0.0) <= np.pi:
            return q
        guess = np.broadcast_to(near, shape).reshape(q.shape)
        far = np.full(self._space.nq, np.inf)
        bounds = (self._model.lower, self._model.upper) if limits else (-far, far)
        return nearest_turns(self._model, q, guess, *bounds)

    def _warn_out_of_reach(self, result: IKResult) -> None:
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
        warn(ConvergenceWarning(message))

    # -- starts -------------------------------------------------------------------------------

    def _preferred(self, posture: ArrayLike, limits: bool) -> FloatArray:
        """The preferred posture: nothing is wished beyond a limit."""
        wish = checked("posture", posture, self._space.nq, of=self._model.mechanism.name)
        return self.starts.within(wish, limits)

    def _start(self, q0: ArrayLike | None, wish: FloatArray | None) -> FloatArray:
        """Where the search begins, shape (..., nq)."""
        if q0 is not None:
            start = checked("q0", q0, self._space.nq, of=self._model.mechanism.name)
            return self._space.normalised("q0", start) if self._model.has_quaternions else start
        if wish is not None:
            return self._space.normalised("posture", wish)
        return self.starts.neutral

    # -- functions ----------------------------------------------------------------------------

    def iteration(self, choices: _Choices) -> Iteration:
        """The machine code that does steps."""
        return self._iterations.get(choices, lambda: self._made(choices))

    def _made(self, choices: _Choices) -> Iteration:
        lower, upper = self._model.lower, self._model.upper
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
        ends = (-1.0, STEP_TO_POSTURE) if choices.posture else (TARGET_WANTED, STEP_TO_TARGET)
        return Iteration(function, *ends)

    def surroundings(self, base: BaseMotion | None) -> list[tuple[FloatArray, int]]:
        """Motion of the base and time, the same for all rows."""
        found = self._evaluator.environment(STEP, base)
        for x in found[:-1] if len(found) == 4 else found:
            if x.ndim > 2:
                raise wrong_shape("base", x.shape, "one motion")
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


def _rows(
    arrays: Mapping[str, FloatArray], points: tuple[str, ...], batch: tuple[int, ...]
) -> FloatArray:
    """All targets in one array, shape (n, numbers)."""
    parts = []
    for name, x in arrays.items():
        tail = (3,) if name in points else (4, 4)
        whole = x if x.shape == (*batch, *tail) else np.broadcast_to(x, (*batch, *tail))
        parts.append(whole.reshape(-1, 3 if len(tail) == 1 else 16))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _refuse_wrong(arrays: Mapping[str, FloatArray], points: tuple[str, ...]) -> None:
    """Say which targets no frame can have."""
    for name, x in arrays.items():
        refuse_not_finite(f"targets[{name!r}]", x, 1 if name in points else 2)
        if name not in points:
            check_rigid(x, f"targets[{name!r}]")


def _arrays(targets: Targets) -> dict[str, FloatArray]:
    """Targets as arrays of double precision."""
    given = by_name("targets", targets)
    if not given:
        raise ShapeError("targets is empty, expected {frame: pose or point}", name="targets")
    arrays = {
        name: numbers(f"targets[{name!r}]", x).astype(float, copy=False)
        for name, x in given.items()
    }
    for name, x in arrays.items():
        if x.shape[-2:] != (4, 4) and x.shape[-1:] != (3,):
            raise wrong_shape(
                f"targets[{name!r}]",
                x.shape,
                "poses (..., 4, 4) or points (..., 3)",
                "(..., 4, 4) or (..., 3)",
                name="targets",
            )
    return arrays


def _together(
    batches: list[tuple[int, ...]],
    arrays: Mapping[str, FloatArray],
    start: FloatArray,
    wish: FloatArray | None,
) -> tuple[int, ...]:
    """Leading axes of all arguments."""
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
