"""Detects events within a step: which witness function crosses zero first, and where.

Machine code does many steps at once. Those that certainly have no event show by samples at their
ends: a witness function that only computes is evaluated over all of them together, one that may do
anything else sample by sample.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SimulationError
from robodyn.simulation.events.witness import StepSamples, WitnessFunction, WitnessState
from robodyn.tolerances import (
    EVENT_TIME_PRECISION,
    GAP_CLOSING,
    SAME_EVENT_TIME,
    WITNESS_OF_SAMPLES,
    WITNESS_SIGN,
    WITNESS_ZERO,
)


def _steps_without_event(
    watched: Sequence[WitnessState], samples: StepSamples, acting: Callable[[int], None] | None
) -> tuple[int, KeyboardInterrupt | None]:
    """Number of the first steps of a block that certainly have no event.

    watched: State of each witness function at the start of the first step, which is updated to the
        end of the last step that is counted. Each function has a sign.
    acting, optional: Called with the number of a step before functions that may depend on its
        forces. ``None`` if forces are the same in all steps.
    Returns count
    Returns interrupt: Ctrl-C during the call of a function: to be raised after the steps before it
        are recorded.
    """
    checks = dict.fromkeys(x.function.sure_steps for x in watched if x.function.sure_steps)
    count = min((check(samples) for check in checks), default=len(samples.t) - 1)
    functions = [x for x in watched if not x.function.sure_steps]
    if not (count and functions):
        return count, None
    t, q, v = (x[: count + 1] for x in samples[:3])
    together, each, interrupt = [], [], None
    for state in functions:
        values = None
        if state.function.values is not None and not state.one_by_one and len(t) > 2:
            values = state.function.values(t[1:], q[1:], v[1:])
            state.one_by_one = values is None
        if values is None:
            each.append(state)
        else:
            together.append((state, values))
            count = min(count, _same_side(values, state.side or 0))
    for j in range(count if each else 0):
        if acting is not None:
            acting(j)
        start = None if acting is None else (float(t[j]), q[j], v[j])
        try:
            if not _step_without_event(each, float(t[j + 1]), q[j + 1], v[j + 1], start):
                count = j
                break
        except KeyboardInterrupt as error:
            interrupt, count = error, j
            break
    if count and together and not _confirmed(together, count, t, q, v):
        return 0, interrupt
    return count, interrupt


def _starts_off_zero(watched: Sequence[WitnessState], samples: StepSamples) -> bool:
    """Whether all functions start at a distance from zero that is not rounding."""
    t, q, v = float(samples.t[1]), samples.q[1], samples.v[1]
    for state in watched:
        try:
            change = state.function.value(t, q, v) - state.value
        except Exception:  # of the user's function: it shows again in the first step
            return False
        if abs(state.value) <= WITNESS_ZERO * abs(change):
            return False
    return True


def _step_without_event(
    watched: Sequence[WitnessState],
    t: float,
    q: FloatArray,
    v: FloatArray,
    start: tuple[float, FloatArray, FloatArray] | None,
) -> bool:
    """Whether there is no event in a step from where time has come to, to a state.

    t, q, v [s]: The end of the step.
    start, optional: The same at its start, if functions may have changed there.
    """
    new = []
    for state in watched:
        side, before = state.side, state.value
        try:
            if start is not None and state.function.of_state:
                before = state.function.value(*start)
            value = state.function.value(t, q, v)
        except Exception:  # it shows again where the step is done with numbers
            return False
        if side is None or sign(value) != side or sign(before) != side:
            return False
        state.stepped(side, value - before)
        new.append(value)
    for state, value in zip(watched, new, strict=True):
        state.value = value
    return True


def _confirmed(
    together: Sequence[tuple[WitnessState, FloatArray]],
    count: int,
    t: FloatArray,
    q: FloatArray,
    v: FloatArray,
) -> bool:
    """Note the values at the end of some steps, computed once more for that sample alone.

    A function whose value for one sample differs from that for many is called for each sample from
    now on.
    """
    ends = []
    for state, values in together:
        numbers = []
        try:
            for k in range(max(count - 1, 1), count + 1):
                numbers.append(state.function.value(float(t[k]), q[k], v[k]))
        except Exception:  # of the user's function, at instants that may never come
            state.one_by_one = True
            return False
        at_once = values[count - len(numbers) : count].tolist()
        wrong = max(abs(x - y) for x, y in zip(at_once, numbers, strict=True))
        if wrong and wrong > WITNESS_OF_SAMPLES * np.abs(values[:count]).max():
            state.one_by_one = True
            return False
        ends.append((state, state.value if count == 1 else numbers[0], numbers[-1]))
    for state, before, value in ends:
        state.stepped(state.side or 0, value - before)
        state.value = value
    return True


def _same_side(values: FloatArray, side: int) -> int:
    """Number of the first values that have a sign without doubt."""
    low, high = float(values.min()), float(values.max())
    if min(side * low, side * high) > WITNESS_SIGN * max(-low, high):  # false for NaN
        return len(values)
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        values = np.where(np.isfinite(values), values, 0.0)  # zero has no sign
        largest = np.abs(values).max(initial=0.0)
    sure = side * values > WITNESS_SIGN * largest
    return int(sure.argmin())


#: Function from the time since the start of a step [s] to the state.
After = Callable[[float], tuple[FloatArray, FloatArray]]


class EventDetector:
    """The sign of each witness function, and the events of this instant.

    happened: Events of this instant, in order.
    """

    def __init__(self) -> None:
        self._states: dict[WitnessFunction, WitnessState] = {}
        self._watched: list[WitnessState] = []
        self._on_sides = False
        self._starts = False  # the motion is at its start, where signs are those of values
        self.happened: list[WitnessFunction] = []

    def first(
        self, t: float, h: float, step: float, after: After
    ) -> tuple[float, tuple[WitnessFunction, ...]]:
        """The first events in a part of a step, and when they happen.

        Parameters
        ----------
        t, h : float [s]
            Start and length of the part of a step in which events are searched.
        step : float [s]
            Length of the whole step.
        after : callable
            Function from the time since ``t`` [s] to the state.
        """
        if self._starts:  # the first step shows whether a function starts at zero
            self.restart()
        found = []
        for state in self._watched:

            @functools.cache
            def f(part: float, value: Callable[..., float] = state.function.value) -> float:
                return value(t + part, *after(part))

            part = self._part(state, f, h, step)
            if part is not None:
                found.append((part, state.function))
        if not found:
            return h, ()
        first = min(part for part, _ in found)
        together = [
            (part, witness) for part, witness in found if part <= first + SAME_EVENT_TIME * step
        ]
        return max(part for part, _ in together), tuple(witness for _, witness in together)

    def _part(
        self, state: WitnessState, f: Callable[[float], float], h: float, step: float
    ) -> float | None:
        """The time of an event in this part of a step [s]; ``None`` if it does not happen."""
        witness, start, end, low = state.function, f(0.0), f(h), 0.0
        if witness.one_sided and start < 0.0:  # rounding: the event is a further decrease
            start, end, f = 0.0, end - start, functools.partial(_growth, f, start)
        side = sign(start) if state.side is None else state.side
        fresh = state.side is None and witness not in self.happened
        if witness.already and fresh and start < 0.0:
            state.stepped(1, end - start)
            return 0.0
        if self._at_zero(state, start, end, side):
            side, low = departure(f, step)
            stays = witness.one_sided and min(f(low), end) > -GAP_CLOSING
            if side == 0 or stays:
                return None
            if self._leaves(state, side):
                state.stepped(-side, end - start)
                return 0.0
        elif sign(start) != side:  # the function has changed while time stood still
            state.stepped(side, end - start)
            return None if witness.direction == side else 0.0
        state.stepped(side, end - start)
        if low >= h or sign(end) == side or witness.direction == side:
            return None
        return crossing(f, low, h, EVENT_TIME_PRECISION * step)

    def _at_zero(self, state: WitnessState, start: float, end: float, side: int) -> bool:
        """Whether a function starts at zero, so that its sign shows only when it leaves."""
        if side == 0 or (state.function.one_sided and start <= 0.0):
            return True
        fresh = state.side is None or state.function in self.happened
        scale = max(abs(end - start), state.change_at_event)
        return fresh and abs(start) <= WITNESS_ZERO * scale < math.inf

    def _leaves(self, state: WitnessState, side: int) -> bool:
        """Whether an event happens where its function leaves zero with a sign.

        Raises SimulationError: If bodies that met do not part.
        """
        witness = state.function
        if witness not in self.happened:
            return witness.direction == side
        if not state.must_separate or side == state.came_from:
            return False
        if self.happened[-1] is not witness:
            return True  # another event has happened since: the bodies meet again
        raise SimulationError(
            f"event {witness.name!r}: the bodies do not part after their impact but rest on each "
            "other, and an event takes no time: end the motion there, lock or close what holds "
            "them, or give stops= for joints, and events.landings or load(..., ground=) for points"
        )

    def moved(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Note the state at a later time, at which no event has happened yet."""
        self.happened.clear()
        for state in self._states.values():
            state.must_separate = False
        for state in self._watched:
            state.value = state.function.value(t, q, v)
            state.side = sign(state.value)
        self._on_sides = all(x.side == 1 if x.function.one_sided else x.side for x in self._watched)

    # -- jumps ------------------------------------------------------------------------------------

    def done(self, witness: WitnessFunction, must_separate: bool) -> None:
        """Note that an event was applied; see `Change` for ``must_separate``."""
        self.happened.append(witness)
        state = self._state(witness)
        state.change_at_event = state.change
        state.must_separate |= must_separate

    def carried_across(
        self, witnesses: Sequence[WitnessFunction], t: float, q: FloatArray, v: FloatArray
    ) -> tuple[WitnessFunction, ...]:
        """Events that happen at the same instant since the state has jumped; each happens once."""
        found = []
        for witness in witnesses:
            now, before = sign(witness.value(t, q, v)), self._state(witness).side or 0
            if witness not in self.happened and now == -before != 0 and witness.direction != before:
                found.append(witness)
        return tuple(found)

    def restart(self, witnesses: Iterable[WitnessFunction] | None = None) -> None:
        """Note that the state has jumped, or that there are other witness functions from now on.

        witnesses, optional: In the order in which they are applied where they happen at one
            instant.
        """
        if witnesses is not None:
            self._watched = [self._state(witness) for witness in witnesses]
        self._on_sides = self._starts = False
        for state in self._states.values():
            state.side = None

    def _state(self, witness: WitnessFunction) -> WitnessState:
        if witness not in self._states:
            self._states[witness] = WitnessState(witness)
        return self._states[witness]

    # -- whole steps in which nothing happens ------------------------------------------------------

    def start(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Determine the signs of all functions of time and state at the start of a motion."""
        values = []
        for state in self._watched:
            witness = state.function
            if witness.sure_steps or witness.of_state or witness.already:
                return  # they depend on forces that do not act yet
            try:
                values.append(witness.value(t, q, v))
            except Exception:  # it shows again in the first step
                return
            if not values[-1]:
                return
        for state, value in zip(self._watched, values, strict=True):
            state.value, state.side = value, sign(value)
        self._on_sides = self._starts = True

    @property
    def asks_python(self) -> bool:
        """Whether a function is called for samples: steps that are not kept cost more then."""
        return not all(x.function.sure_steps for x in self._watched)

    @property
    def sure_of_sides(self) -> bool:
        """Whether all functions have a sign, and no event has happened at this instant.

        Then an event happens in a step only if a function has another sign at its end.
        """
        return self._on_sides and not self.happened

    def steps_without_event(
        self, samples: StepSamples, acting: Callable[[int], None] | None
    ) -> tuple[int, KeyboardInterrupt | None]:
        """Number of the first steps of a block without an event: see `steps_without_event`."""
        if self._starts and not _starts_off_zero(self._watched, samples):
            return 0, None
        self._starts = False
        return _steps_without_event(self._watched, samples, acting)


def _growth(gap: Callable[[float], float], start: float, part: float) -> float:
    """Increase of a gap since the start."""
    return gap(part) - start


#: Fractions of a step at which the sign of a function that starts at zero is taken: the first one
#: shows it if the function has a rate at zero, the second one if it has a second derivative alone.
SOON, LATER = 1e-6, 1e-3
#: Number of evaluations in which the interval around a crossing has to halve.
LOOKS = 2
#: A function with a rate has changed by SOON / LATER at the first of them, else by its square.
AT_A_SPEED = 0.3 * SOON / LATER

#: Function from the time since the start of a step [s] to the value of a witness function.
OfTime = Callable[[float], float]


def sign(x: float) -> int:
    """1, 0 or -1."""
    return (x > 0.0) - (x < 0.0)


def departure(f: OfTime, step: float) -> tuple[int, float]:
    """The sign with which a function leaves its first value, and the time at which it has [s].

    The sign is 0 if the function stays there.
    """
    start, soon, later = f(0.0), f(SOON * step), f(LATER * step)
    speed, way = soon - start, later - start
    if abs(speed) > AT_A_SPEED * abs(way):
        return sign(speed), SOON * step
    return sign(way), LATER * step


def crossing(f: OfTime, low: float, high: float, tolerance: float) -> float:
    """The time just after a function crosses zero, to within ``tolerance`` [s].

    Parameters
    ----------
    f : callable
    low, high : float [s]
        Before the crossing, and after it or at the zero.
    tolerance : float [s]

    Notes
    -----
    [Chandrupatla 1997]: inverse quadratic interpolation where three points are on a curve that
    allows it, bisection elsewhere, and wherever two looks have not halved the interval: a function
    that jumps is on no curve.
    """
    side = sign(f(low))
    a, fa, b, fb = high, f(high), low, f(low)  # the newest point, and the one across
    c, fc, part, slow = b, fb, 0.5, 0
    while (width := abs(b - a)) > tolerance:
        x = a + part * (b - a)
        fx = f(x)
        if (sign(fx) == side) == (sign(fa) == side):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        nearest = 0.4 * tolerance / max(abs(b - a), tolerance)
        part = min(max(_next_part(a, b, c, fa, fb, fc), nearest), 1.0 - nearest)
        slow = slow + 1 if abs(b - a) > 0.5 * width else 0
        if slow == LOOKS:
            part, slow = 0.5, 0
    return b if sign(fa) == side else a


def _next_part(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """The next point to evaluate, as a fraction of the way from ``a`` to ``b``."""
    if fa == fb or fb == fc or fa == fc or b == c:
        return 0.5
    x, y = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (y * y < x and (1.0 - y) * (1.0 - y) < 1.0 - x):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
