"""The pair of Dormand and Prince, of orders 5 and 4, which chooses its own steps.

The error of a step is what the two orders differ by, in the space of joint twists: at most the
tolerance [rad, m] in each part of the position, and the tolerance times the largest speed (times 1
where all are smaller) in each speed. So much is allowed in a step; over a motion it adds up.

Between its ends a step is a polynomial of fourth order [Hairer, Norsett, Wanner 1993, II.6]. While
forces stay the same a step goes over as many samples as it is good for, and these are read from the
polynomial; where a controller changes its forces the next step begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, SingularError
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.method import Coordinates, Motion, Solver, Start, is_breakdown
from robodyn.simulation.integrators.runge_kutta import RungeKutta, combined, nonzero
from robodyn.tolerances import SHORTEST_STEP

Result = TypeVar("Result")

#: The method of fifth order; its last stage stands at the end of the step, and is the next's first.
FIFTH = RungeKutta(
    5,
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
)

#: Weights of fifth order less those of fourth.
ERROR = nonzero((71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40))

#: Weights within the step: row k has those of stage k, for powers 1 to 4 of the part of the step.
WITHIN = np.array(
    [
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)

#: Least and largest ratio of a step to the one before, and the safety factor of its length.
SHORTER, LONGER, SAFETY = 0.2, 5.0, 0.9

#: Stiffness of a step at the boundary of stability. A motion is stiff after `STIFF` such steps with
#: fewer than `EASY` others in succession between them.
BOUNDARY, STIFF, EASY = 3.0, 15, 6

#: Steps between two samples, at most.
MAX_STEPS = 20_000

#: Of the first neglected term of the rate of twists [Hairer, Lubich, Wanner 2006, III.4.2].
NEGLECTED = 1.0 / 720.0


@dataclass(frozen=True, eq=False)
class AcceptedStep:
    """One step whose error was within the tolerance, with dense output between its ends.

    length [s]
    speeds, accelerations (7, nv): Of its stages.
    """

    start: Start
    length: float
    speeds: FloatArray
    accelerations: FloatArray
    end: tuple[FloatArray, FloatArray]

    @property
    def end_time(self) -> float:
        """The time at its end [s]."""
        return self.start.t + self.length

    @property
    def stiffness(self) -> float:
        """The step length times an estimate of the Jacobian, by the two stages at its end."""
        weights = np.array(FIFTH.b) - np.array([*FIFTH.a[5], 0.0, 0.0])
        rows = np.hstack([self.speeds, self.accelerations])
        apart = float(np.linalg.norm(weights @ rows))
        return float(np.linalg.norm(rows[6] - rows[5])) / apart if apart > 0.0 else 0.0

    def state(self, motion: Motion, t: float) -> tuple[FloatArray, FloatArray]:
        """The state at a time within it."""
        part = (t - self.start.t) / self.length
        if part >= 1.0 - 1e-12:
            return self.end
        weights = self.length * (WITHIN @ part ** np.arange(1, 5))
        q = motion.coordinates.move(self.start.q, weights @ self.speeds)
        return motion.close(t, q, self.start.v + weights @ self.accelerations)


class StepControl(NamedTuple):
    """Lengths of steps by their errors.

    exponent: Of the error, for the ratio of the next step to a good one.
    longer, again: Largest ratio of the next step to this one, and after one that was too long.
    """

    tolerance: float
    exponent: float
    longer: float
    again: float

    def accurate(
        self, trial: Callable[[float], tuple[Result, float]], t: float, h: float
    ) -> tuple[Result, float, float]:
        """A step from an instant on whose error is allowed; its length, and the next one's ratio.

        trial: Takes the length of a step, and returns its result and error over the allowed error.
        Raises SingularError: If no step is short enough.
        """
        shortest, grow = SHORTEST_STEP * max(1.0, abs(t)), self.longer
        while True:
            try:
                found, error = trial(h)
            except RobodynError as problem:
                if not is_breakdown(problem) or h * SHORTER < shortest:
                    raise
                h, grow = h * SHORTER, self.again
                continue
            ratio = min(grow, max(SHORTER, SAFETY * max(error, 1e-10) ** self.exponent))
            if error <= 1.0:
                return found, h, ratio
            h, grow = h * min(ratio, SAFETY), self.again
            if h < shortest:
                raise SingularError(
                    f"steps shorter than {shortest:.1g} s would be needed for the tolerance of "
                    f"{self.tolerance:g}: accelerations grow without bound, or jump"
                )


class StiffMotion(Exception):
    """A motion has become stiff: another method has to continue from this state, (t, q, v)."""

    def __init__(self, t: float, q: FloatArray, v: FloatArray) -> None:
        super().__init__(t)
        self.state = t, q, v


class AdaptiveSteps:
    """Explicit steps with error control, over the samples of one motion.

    stops: `StiffMotion` is raised where the motion is stiff. It is stiff where the length of steps
        times what rates change by with the state is near the boundary of stability, again and
        again, so that it is not accuracy that keeps them short [Hairer, Wanner 1996, IV.2].
    """

    def __init__(self, tolerance: float, stops: bool = False) -> None:
        self._tolerance, self._stops = tolerance, stops
        self._stiff = self._easy = 0
        self._accepted: AcceptedStep | None = None
        self._next = 0.0
        self._tau: FloatArray | None = None
        #: The state that was handed out last, and its time.
        self._given: tuple[float, FloatArray, FloatArray] | None = None

    def advance(self, motion: Motion, start: Start, h: float) -> tuple[FloatArray, FloatArray]:
        """The state after ``h`` [s]."""
        end = start.t + h
        held = self._tau is not None and np.array_equal(motion.tau, self._tau)
        accepted = self._accepted if held and self._goes_on(motion, start) else None
        self._tau = motion.tau
        limit = max(motion.until, end) if held else end
        tiny, count = SHORTEST_STEP * max(1.0, abs(end)), 0
        while accepted is None or accepted.end_time < end - tiny:
            count += 1
            if count > MAX_STEPS:
                why = "the motion is stiff, take integrator='implicit' or 'auto'"
                if self._stops:
                    why = "accelerations grow without bound, or jump"
                raise SingularError(
                    f"more than {MAX_STEPS} explicit steps are needed between two samples at "
                    f"{start.t:.6g} s: {why}"
                )
            if accepted is not None:
                start = motion.start(accepted.end_time, *accepted.end)
            accepted = self._step(motion, start, self._next or h, limit)
            if self._stops and self._is_stiff(accepted):
                raise StiffMotion(*start[:3])
        self._accepted = accepted
        state = accepted.state(motion, end)
        self._given = (end, *state)
        return state

    def _is_stiff(self, accepted: AcceptedStep) -> bool:
        """Whether steps have been at the boundary of stability often enough."""
        if accepted.stiffness > BOUNDARY:
            self._stiff, self._easy = self._stiff + 1, 0
        else:
            self._easy += 1
            self._stiff = 0 if self._easy >= EASY else self._stiff
        return self._stiff >= STIFF

    def _goes_on(self, motion: Motion, start: Start) -> bool:
        """Whether a state is on the last accepted step, so that this step can be used further."""
        accepted, (t, q, v, _) = self._accepted, start
        if accepted is None or self._given is None:
            return False
        if not accepted.start.t <= t <= accepted.end_time:
            return False
        at, *given = self._given
        if abs(at - t) > SHORTEST_STEP * max(1.0, abs(t)):
            given = list(accepted.state(motion, t))
        return np.array_equal(q, given[0]) and np.array_equal(v, given[1])

    def _step(self, motion: Motion, start: Start, length: float, limit: float) -> AcceptedStep:
        """A step whose error is within the tolerance, and that ends at ``limit`` [s] at the latest.

        Raises SingularError: If none is short enough.
        """
        whole = limit - start.t <= length * (1.0 + 1e-9)
        first = limit - start.t if whole else length
        control = StepControl(self._tolerance, -0.2, LONGER, 1.0)
        accepted, h, ratio = control.accurate(partial(self._trial, motion, start), start.t, first)
        # a step that a limit cut short says little of what comes after
        self._next = max(length, h * ratio) if whole and h == first else h * ratio
        return accepted

    def _trial(self, motion: Motion, start: Start, h: float) -> tuple[AcceptedStep, float]:
        """A step, and its error divided by the allowed error."""
        space, (t, q, v, _) = motion.coordinates, start
        with np.errstate(over="ignore", invalid="ignore"):
            rows = FIFTH.stages(motion.acceleration, space, start, h)
            speeds, accelerations = (np.array(x) for x in rows)
            u, dv = (combined(nonzero(FIFTH.b), x, h) for x in rows)
            off_u, off_v = (combined(ERROR, x, h) for x in rows)
            scale = self._tolerance * max(1.0, largest(v), largest(v + dv))
            error = max(
                (largest(off_u) + _neglected(space, u, v + dv, h)) / self._tolerance,
                largest(off_v) / scale,
            )
        if not np.isfinite(error):
            error = np.inf
        end = motion.close(t + h, space.move(q, u), v + dv) if error <= 1.0 else (q, v)
        return AcceptedStep(start, h, speeds, accelerations, end), float(error)


def largest(x: FloatArray) -> float:
    """The largest absolute value of a vector; zero if it is empty."""
    return float(np.abs(x).max(initial=0.0))


def _neglected(space: Coordinates, u: FloatArray, v: FloatArray, h: float) -> float:
    """The first neglected term of the rate of twists, over a step; zero where coordinates add."""
    if space.flat:
        return 0.0
    bracket = space.rate(u, v) - space.rate(-u, v)
    return NEGLECTED * h * largest(bracket) * largest(u) ** 3


METHOD = Solver(5, lambda tolerance: AdaptiveSteps(tolerance).advance)
