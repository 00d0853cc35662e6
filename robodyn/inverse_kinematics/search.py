"""The search for postures of many targets: damped steps from one start, then from others."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.iteration import Iteration
from robodyn.inverse_kinematics.starts import PostureStarts
from robodyn.tolerances import NEARER_POSTURE, TARGET_REACHED

#: Steps from each start, toward a preferred posture before, and to settle at last.
STEPS, POSTURE_STEPS, LAST_STEPS = 30, 300, 400
#: Damping as a part of the square of the error, and its bound: for targets that may be reached, and
#: for those that seem to be out of reach.
QUICK, SHORT = np.array([0.1, 0.1]), np.array([0.5, np.inf])
#: Out of reach: random starts that are tried as well,
#: steps [rad, m] at the last that swing, and how often they are damped by so much more.
OTHERS, SWINGING, CALMED, CALMER = 4, 1e-4, 6, 8.0

#: Damping with which loops close while targets hardly count, and steps with it.
LOOPS_FIRST, CLOSING_STEPS = np.array([1e5, 1e5]), 60

#: All rows of one, and none of them.
_ONE, _NONE = np.zeros(1, np.intp), np.zeros(0, np.intp)


class PostureSearch:
    """The search for n rows of targets.

    limits: Postures stay within limits.
    iteration: Steps toward targets.
    goals (n, numbers): Targets.
    fixed: Inputs of a step that are the same for all rows.
    wish (n, nq)), optional: Steps toward targets and a posture that is preferred, and that posture.
    """

    def __init__(
        self,
        starts: PostureStarts,
        limits: bool,
        iteration: Iteration,
        goals: FloatArray,
        fixed: list[tuple[FloatArray, int]],
        wish: tuple[Iteration, FloatArray] | None,
    ) -> None:
        self._starts, self._limits = starts, limits
        self._iteration, self._goals, self._fixed, self._wish = iteration, goals, fixed, wish

    def found(self, begun: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Postures (n, nq) and their errors (n,): the first that reach the targets, or the best.

        The search begins at ``begun``, shape (n, nq), within the limits.
        """
        q = np.array(begun, order="C")
        if not len(q):
            return q, np.zeros(0)
        error = self._improve(q, None, STEPS)[:, 0]
        left = open_rows(error)
        for k in range(self._starts.restarts if len(left) else 0):
            other = self._starts.restart(k, self._limits)
            if other is not None:
                tried = np.repeat(other[None], len(left), axis=0)
                self._keep_improved(q, error, left, tried, self._improve(tried, left, STEPS)[:, 0])
                left = open_rows(error)
                if not len(left):
                    return q, error
        for row in left:
            self._assemble_elsewhere(q, error, row)
        left = open_rows(error)
        if len(left):
            self._nearest(q, error, left, begun[left])
        return q, error

    def _assemble_elsewhere(self, q: FloatArray, error: FloatArray, row: int) -> None:
        """For a target of a linkage: steps from many ways to assemble it, all at once.

        Steps toward a target seldom lead from one way to another, and only some of them reach it.
        """
        tried = self._starts.open.copy()
        if len(tried):
            rows = np.full(len(tried), row)
            self._improve(tried, rows, CLOSING_STEPS, LOOPS_FIRST)
            found = self._improve(tried, rows, STEPS)[:, 0]
            best = int(np.argsort(found)[0])  # what is no number comes last
            self._keep_improved(q, error, rows[:1], tried[best : best + 1], found[best : best + 1])

    def _nearest(self, q: FloatArray, error: FloatArray, left: Array, begun: FloatArray) -> None:
        """For targets out of reach: where short steps come to rest from several starts."""
        others = (self._starts.restart(k, self._limits) for k in range(OTHERS))
        within = [x for x in others if x is not None]
        starts = [begun, q[left], *(np.repeat(x[None], len(left), axis=0) for x in within)]
        q[left], error[left] = begun, np.inf
        for tried in starts:
            self._keep_improved(
                q, error, left, tried, self._refined(tried, left), 1.0 + NEARER_POSTURE
            )

    def _refined(self, q: FloatArray, rows: Array) -> FloatArray:
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
    def _keep_improved(
        q: FloatArray,
        error: FloatArray,
        left: Array,
        tried: FloatArray,
        new: FloatArray,
        margin: float = 1.0,
    ) -> None:
        """What was tried for some rows, where it is better; no number is worse than any.

        In minimal coordinates steps may lead to where other joints cannot follow.
        """
        if len(error) == 1:  # the usual case, in little time
            if new[0] * margin < error[0] or error[0] != error[0]:
                q[...], error[...] = tried, new
            return
        better = (new * margin < error[left]) | np.isnan(error[left])
        q[left[better]], error[left[better]] = tried[better], new[better]

    def _improve(
        self, q: FloatArray, rows: Array | None, steps: int, damping: FloatArray = QUICK
    ) -> FloatArray:
        """Steps of some rows, in place; their errors, and the lengths of their next steps."""
        given = [(damping, 0), *self._fixed]
        goals = self._of(self._goals, rows)
        if self._wish is not None:
            toward, wish = self._wish
            toward.run(q, [goals, given[0], self._of(wish, rows), *given[1:]], POSTURE_STEPS)
        return self._iteration.run(q, [goals, *given], steps)

    @staticmethod
    def _of(x: FloatArray, rows: Array | None) -> tuple[FloatArray, int]:
        """An input of some rows, all of them in one array; one row alone serves all."""
        if rows is not None and len(x) > 1:
            x = x[rows]
        return np.ascontiguousarray(x), x.shape[1] if len(x) > 1 else 0


def open_rows(error: FloatArray) -> Array:
    """Rows whose targets are not reached."""
    if len(error) == 1:
        return _NONE if error[0] <= TARGET_REACHED else _ONE
    return (~(error <= TARGET_REACHED)).nonzero()[0]
