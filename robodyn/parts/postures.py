"""Closed postures, the velocities in them, and the joints that determine both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, together, wrong_shape
from robodyn.errors import AssemblyError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.results import LoopGap


class TreePostures:
    """Postures of a robot without constraints: every position is possible.

    neutral: Makes the neutral position, shape (nq,).
    random: Makes a position within the limits, shape (nq,), of a random generator.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        space: ConfigurationSpace,
        neutral: Callable[[], Array],
        random: Callable[[np.random.Generator], Array],
    ) -> None:
        self._model, self._evaluator, self._space = model, evaluator, space
        self.neutral, self.random = neutral, random
        self.dof = space.nv
        self.independent_joints = model.joint_names
        self.independent_speeds = tuple(range(space.nv))
        self.redundant_constraints: dict[str, tuple[str, ...]] = {}

    def random_each(self, rng: np.random.Generator, count: int) -> Array:
        """As many positions within the limits, (count, nq)."""
        drawn = [self.random(rng) for _ in range(count)]
        return np.array(drawn).reshape(count, self._space.nq)

    def start(self) -> Array:
        """The neutral position, since no search is needed."""
        return self.neutral()

    def loop_gaps(self, q: ArrayLike | None) -> tuple[LoopGap, ...]:
        """No gaps, since there are no closures."""
        return ()

    def assemble(
        self,
        q: ArrayLike | None,
        hold: tuple[str, ...],
        near: ArrayLike | None,
        beyond_limits: bool = False,
    ) -> Array:
        """The guess itself, since nothing has to be closed."""
        self._check_names(hold)
        return one_guess(self._space, q, self.neutral())

    def assemble_each(
        self, q: Array, hold: tuple[str, ...], beyond_limits: bool
    ) -> tuple[Array, Array]:
        """Nothing: each guess is looked at by itself."""
        return q, np.zeros(len(q), bool)

    def mobility(self, q: ArrayLike) -> int:
        """The number of speeds, everywhere."""
        return self.dof

    def branch_sign(self, q: ArrayLike, path: bool) -> Array:
        """One: there is one branch only."""
        return np.ones(self._space.positions("q", q).shape[:-1], int)

    def closed_state(self, q: ArrayLike, v: ArrayLike, free: Array | None) -> tuple[Array, Array]:
        """Copies of the state."""
        found: tuple[Array, Array] = self._evaluator.answer("closed_state", (q, v))
        return found

    def consistent_velocity(self, q: ArrayLike, v: ArrayLike, hold: tuple[str, ...]) -> Array:
        """A copy of the velocity."""
        self._check_names(hold)
        return self._evaluator.call("consistent_velocity", (q, v))

    def consistent_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, hold: tuple[str, ...]
    ) -> Array:
        """A copy of the acceleration."""
        self._check_names(hold)
        return self._evaluator.call("consistent_acceleration", (q, v, a))

    def _check_names(self, joints: tuple[str, ...]) -> None:
        """Refuse names that no joint has."""
        for name in joints:
            _ = self._model.joints[name]


def assembled(
    one: Callable[[ArrayLike | None, ArrayLike | None], Array],
    given: Mapping[str, Array],
    each: Callable[[Array], tuple[Array, Array]] | None = None,
) -> Array:
    """Several postures with loops closed, each by itself, shape (..., nq).

    one: Guess, posture of a branch -> closed posture; either may be None.
    each, optional: Guesses (n, nq) -> what ``one`` finds for them, and for which it is known, (n,).
    given (..., nq): Those of ``"q"`` and ``"near"`` that there are.
    Raises AssemblyError: Of the first guess whose loops do not close, which is named.
    """
    batch = together(**given)
    rows = {name: np.broadcast_to(x, (*batch, x.shape[-1])) for name, x in given.items()}
    found = np.empty(next(iter(rows.values())).shape)
    done = np.zeros(batch, bool)
    if each is not None and found.size:
        closed, known = each(np.asarray(rows["q"], float).reshape(math.prod(batch), -1))
        found[...], done = closed.reshape(found.shape), known.reshape(batch)
    for k in map(tuple, np.argwhere(~done).tolist()):
        own = {name: x[k] for name, x in rows.items()}
        try:
            found[k] = one(own.get("q"), own.get("near"))
        except AssemblyError as error:
            place = ", ".join(map(str, k))
            told = f"posture [{place}] of {batch}: {error}"
            raise AssemblyError(told, residual=error.residual, q=error.q) from None
    return found


def one_guess(space: ConfigurationSpace, q: ArrayLike | None, default: Array) -> Array:
    """A posture given to `Robot.assemble` or `loop_gaps`, quaternions normalised, shape (nq,)."""
    guess = default if q is None else space.positions("q", q)
    if guess.ndim != 1:
        told = f"({space.nq},): one posture at a time"
        raise wrong_shape("q", guess.shape, told, (space.nq,))
    finite(q=guess)
    return space.normalised("q", guess)
