"""A diagonally implicit Runge-Kutta method of third order that damps what is stiff.

The three stages of Alexander (1977): L-stable, so that the stiffest spring, damper or light rod
keeps no step short, and stiffly accurate. Each stage is solved for by Newton's method over the
acceleration alone, ``(1 - g h A_v - g^2 h^2 A_q) da = ...``, with the slopes ``A_q``, ``A_v`` of
the accelerations once a step: compiled derivatives where nothing else acts, or
differences on the manifold. Where that does not converge the step is made in two halves.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, SingularError
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.integrators.adaptive import StepControl, largest
from robodyn.simulation.integrators.method import Advance, Motion, Solver, Start, is_breakdown
from robodyn.tolerances import NEWTON_CONVERGED, SHORTEST_STEP

#: The root of ``x^3 - 3 x^2 + 3/2 x - 1/6`` between 1/6 and 1/2.
G = 0.43586652150845899942
#: Weights of the stages before each, without its own, which is G; the last are those of the step.
BEFORE = (
    (),
    (0.5 * (1.0 - G),),
    (-0.25 * (6.0 * G * G - 16.0 * G + 1.0), 0.25 * (6.0 * G * G - 20.0 * G + 5.0)),
)

#: Of differences, as a part of 1 or of the largest speed.
DIFFERENCE = 1e-7

#: Newton steps at most, and after how many the slopes are taken anew.
NEWTON, ANEW = 14, 5

#: A step is halved so many times at most.
HALVES = 12

#: Ratio of the next step to a good one, at most.
LONGER = 3.0


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of accelerations by the state: ``A_q``, ``A_v``, shape (nv, nv)."""

    q: FloatArray
    v: FloatArray

    def stiffness(self, h: float) -> float:
        """The length of a step times the largest eigenvalue of the linearised motion."""
        n = len(self.q)
        whole = np.block([[np.zeros((n, n)), np.eye(n)], [self.q, self.v]])
        return h * float(np.abs(np.linalg.eigvals(whole)).max(initial=0.0))


def slopes(motion: Motion, start: Start) -> Slopes:
    """The slopes of accelerations at a state: exact if the motion has them, else by differences."""
    t, q, v, a = start
    if motion.slopes is not None:
        return Slopes(*motion.slopes(q, v, motion.tau))
    n = len(v)
    of_q, of_v = np.empty((n, n)), np.empty((n, n))
    step = DIFFERENCE * max(1.0, largest(v))
    for k in range(n):
        e = np.zeros(n)
        e[k] = 1.0
        of_q[:, k] = motion.acceleration(t, motion.coordinates.move(q, DIFFERENCE * e), v) - a
        of_v[:, k] = motion.acceleration(t, q, v + step * e) - a
    return Slopes(of_q / DIFFERENCE, of_v / step)


def advance(
    motion: Motion, start: Start, h: float, halves: int = HALVES
) -> tuple[FloatArray, FloatArray]:
    """The state after a step of ``h`` [s], which is halved up to ``halves`` times.

    Raises SingularError: If it cannot be solved for, in however many parts.
    """
    try:
        return step(motion, start, h, slopes(motion, start))
    except RobodynError as problem:
        if not is_breakdown(problem) or not halves:
            raise
    half = advance(motion, start, 0.5 * h, halves - 1)
    return advance(motion, motion.start(start.t + 0.5 * h, *half), 0.5 * h, halves - 1)


def step(motion: Motion, start: Start, h: float, near: Slopes) -> tuple[FloatArray, FloatArray]:
    """One step, with the slopes of accelerations at its start.

    Raises SingularError: If a stage does not converge.
    """
    speeds: list[FloatArray] = []
    accelerations: list[FloatArray] = []
    t, q, v, a = start
    u, w = np.zeros(len(v)), v
    for before in BEFORE:
        at = t + (sum(before) + G) * h
        u = sum((h * b * x for b, x in zip(before, speeds, strict=True)), np.zeros(len(v)))
        w = v + sum((h * b * x for b, x in zip(before, accelerations, strict=True)), 0.0)
        rate, a = _stage(motion, at, q, u, w, h * G, a, near)
        speeds.append(rate)
        accelerations.append(a)
        u, w = u + h * G * rate, w + h * G * a
    return motion.close(t + h, motion.coordinates.move(q, u), w)


def _stage(
    motion: Motion,
    t: float,
    q: FloatArray,
    u: FloatArray,
    v: FloatArray,
    part: float,
    a: FloatArray,
    near: Slopes,
) -> tuple[FloatArray, FloatArray]:
    """Rate ``k`` and acceleration ``a`` of the state ``u + part k``, ``v + part a``."""
    space, n = motion.coordinates, len(v)
    k = v + part * a
    solve = np.linalg.inv(np.eye(n) - part * near.v - part * part * near.q)
    size, allowed = np.inf, NEWTON_CONVERGED * max(1.0, largest(v))
    for count in range(NEWTON):
        x, w = u + part * k, v + part * a
        moved = space.move(q, x)
        here = motion.acceleration(t, moved, w)
        off_k, off_a = k - space.rate(x, w), a - here
        if count == ANEW:
            near = slopes(motion, Start(t, moved, w, here))
            solve = np.linalg.inv(np.eye(n) - part * near.v - part * part * near.q)
        change = -solve @ (off_a + part * (near.q @ off_k))
        a, k = a + change, k - off_k + part * change
        last, size = size, part * max(largest(change), largest(off_k))
        # rounding leaves something of stiff accelerations: it no longer gets smaller
        if size <= allowed or (last <= 1e4 * allowed and size > 0.3 * last):
            return k, a
        if not np.isfinite(size):
            break
    raise SingularError(
        f"no acceleration at t = {t:.6g} s solves the implicit step; accelerations jump there"
    )


class ImplicitSteps:
    """Implicit steps as long as a tolerance allows: each is compared with two of half its length.

    tolerance [rad, m]
    stiffness: Of the last step: its length times the largest rate at which small deviations change.
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance, self._next, self.stiffness = tolerance, 0.0, 0.0

    def advance(self, motion: Motion, start: Start, h: float) -> tuple[FloatArray, FloatArray]:
        """The state after ``h`` [s], in as many steps as needed."""
        end = start.t + h
        tiny = SHORTEST_STEP * max(1.0, abs(end))
        while True:
            t = start.t
            whole = end - t <= (self._next or h) * (1.0 + 1e-9)
            length = end - t if whole else self._next
            used, following, state = self._accurate(motion, start, length)
            t = t + used
            # a step that a sample cut short says little of what comes after
            whole = whole and used == length
            self._next = max(self._next, following) if whole else following
            if end - t <= tiny:
                return state
            start = motion.start(t, *state)

    def _accurate(
        self, motion: Motion, start: Start, h: float
    ) -> tuple[float, float, tuple[FloatArray, FloatArray]]:
        """A step within the tolerance: its length, that of the next one, and the state after it."""
        near = slopes(motion, start)

        def trial(h: float) -> tuple[tuple[FloatArray, FloatArray], float]:
            once = step(motion, start, h, near)
            half = step(motion, start, 0.5 * h, near)
            twice = step(motion, motion.start(start.t + 0.5 * h, *half), 0.5 * h, near)
            scale = self._tolerance * max(1.0, largest(start.v), largest(twice[1]))
            off = largest(motion.loads.robot.difference(once[0], twice[0])) / self._tolerance
            # two halves are better by 2^3 than the whole, which differs from them by what is left
            return twice, max(off, largest(once[1] - twice[1]) / scale) / 7.0

        control = StepControl(self._tolerance, -0.25, LONGER, LONGER)
        state, h, ratio = control.accurate(trial, start.t, h)
        self.stiffness = near.stiffness(h)
        return h, h * ratio, state


def _steps(tolerance: float | None) -> Advance:
    """Steps of given length, which are halved where needed, or controlled by a tolerance."""
    return advance if tolerance is None else ImplicitSteps(tolerance).advance


METHOD = Solver(3, _steps, None)
