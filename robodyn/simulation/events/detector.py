"""Detects events within a step: witness functions, and which of them crosses zero first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SimulationError
from robodyn.simulation.events.crossing import crossing, departure, sign
from robodyn.simulation.events.event import Action
from robodyn.tolerances import (
    EVENT_TIME_PRECISION,
    GAP_CLOSING,
    SAME_EVENT_TIME,
    WITNESS_OF_SAMPLES,
    WITNESS_SIGN,
    WITNESS_ZERO,
)

__all__ = ["EventDetector", "StepSamples", "WitnessFunction"]

#: Part of a step [s] -> state there.
After = Callable[[float], tuple[FloatArray, FloatArray]]


class StepSamples(NamedTuple):
    """Samples at the start of some steps and at the end of each.

    Attributes
    ----------
    t : ndarray, shape (n + 1,) [s]
    q, v : ndarray, shape (n + 1, nq), (n + 1, nv) [rad, m], [rad/s, m/s]
    forces : ndarray, shape (n + 1, nv) [N m, N]
        Of the controller, and of whatever drives or holds joints.
    tau : ndarray, shape (nv,), or None [N m, N]
        Of the controller in all of these steps, where it is not machine code.
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    forces: FloatArray
    tau: FloatArray | None


@dataclass(frozen=True, eq=False)
class WitnessFunction:
    """A function of the state whose zero is an event.

    Attributes
    ----------
    name : str
    value : callable
        (t, q, v) -> float.
    direction : {0, 1, -1}
        As of `robodyn.Event`.
    actions : tuple of callable
        What is done where it happens.
    one_sided : bool
        The function is never to be negative but for rounding: a gap.
    already : bool
        It also happens where the function is negative from a jump on.
    of_state : bool
        The function may depend on what acts, which changes where time does not go on.
    values : callable, optional
        (t, q, v) -> the values at many samples at once, or ``None`` where the function has to be
        asked for each of them: arrays of shape (n,), (n, nq), (n, nv) -> (n,).
    sure_steps : callable, optional
        `StepSamples` -> how many of the steps certainly have no event of this function, in place
        of its values; functions that share one are asked by it together.
    when_endless : callable, optional
        The action taken instead where it happens again and again in ever shorter intervals.
        Default: that is an error.
    """

    name: str
    value: Callable[[float, FloatArray, FloatArray], float]
    direction: int = 0
    actions: tuple[Action, ...] = ()
    one_sided: bool = False
    already: bool = False
    of_state: bool = False
    values: Callable[[FloatArray, FloatArray, FloatArray], FloatArray | None] | None = None
    sure_steps: Callable[[StepSamples], int] | None = None
    when_endless: Action | None = None


class EventDetector:
    """The side of zero of each witness function, and the events of this instant.

    Parameters
    ----------
    witnesses : sequence of WitnessFunction
        In the order in which they are applied where they happen at one instant.
    """

    def __init__(self, witnesses: Sequence[WitnessFunction]) -> None:
        self.witnesses = tuple(witnesses)
        self._functions, self._on_sides = self.witnesses, False
        self._side: dict[WitnessFunction, int] = {}
        self._from: dict[WitnessFunction, int] = {}
        self._scale: dict[
            WitnessFunction, float
        ] = {}  # what a function changed by in the latest step
        self._last: dict[WitnessFunction, float] = {}  # and in the one in which it happened last
        self._separating: set[WitnessFunction] = set()
        self._values: dict[
            WitnessFunction, float
        ] = {}  # of functions of events, where time has come to
        self._asked_each: set[WitnessFunction] = set()  # they know one sample at a time
        self._starts = False  # at the start of the motion, with sides by values alone
        #: Ctrl-C while functions were asked for a block: to be raised when it is recorded.
        self.interrupt: KeyboardInterrupt | None = None
        #: What has happened at this instant, in order.
        self.happened: list[WitnessFunction] = []

    def first(
        self, t: float, h: float, step: float, after: After
    ) -> tuple[float, tuple[WitnessFunction, ...]]:
        """The first events in a part of a step, and when they happen.

        Parameters
        ----------
        t, h : float [s]
            Start and length of the part of a step that is looked at.
        step : float [s]
            Length of the whole step.
        after : callable
            Part of the step [s] -> state there.
        """
        if self._starts:  # whether a function starts at zero shows in the step
            self.restart()
        found = []
        for witness in self.witnesses:

            @functools.cache
            def f(part: float, value: Callable[..., float] = witness.value) -> float:
                return value(t + part, *after(part))

            part = self._part(witness, f, h, step)
            if part is not None:
                found.append((part, witness))
        if not found:
            return h, ()
        first = min(part for part, _ in found)
        together = [
            (part, witness) for part, witness in found if part <= first + SAME_EVENT_TIME * step
        ]
        return max(part for part, _ in together), tuple(witness for _, witness in together)

    def _part(
        self, witness: WitnessFunction, f: Callable[[float], float], h: float, step: float
    ) -> float | None:
        """When an event happens in this part of a step [s]; ``None``: it does not."""
        start, end, low = f(0.0), f(h), 0.0
        if witness.one_sided and start < 0.0:  # it is looked for where it becomes smaller still
            start, end, f = 0.0, end - start, functools.partial(_growth, f, start)
        side = self._side.get(witness, sign(start))
        fresh = witness not in self._side and witness not in self.happened
        if witness.already and fresh and start < 0.0:
            self._from[witness], self._scale[witness] = 1, abs(end - start)
            return 0.0
        if self._at_zero(witness, start, end, side):
            side, low = departure(f, step)
            stays = witness.one_sided and min(f(low), end) > -GAP_CLOSING
            if side == 0 or stays:
                return None
            if self._leaves(witness, side):
                self._from[witness], self._scale[witness] = -side, abs(end - start)
                return 0.0
        elif sign(start) != side:  # it has changed by itself
            self._from[witness], self._scale[witness] = side, abs(end - start)
            return None if witness.direction == side else 0.0
        self._from[witness], self._scale[witness] = side, abs(end - start)
        if low >= h or sign(end) == side or witness.direction == side:
            return None
        return crossing(f, low, h, EVENT_TIME_PRECISION * step)

    def _at_zero(self, witness: WitnessFunction, start: float, end: float, side: int) -> bool:
        """Whether a function starts at zero, so that its side shows only when it leaves."""
        if side == 0 or (witness.one_sided and start <= 0.0):
            return True
        fresh = witness in self.happened or witness not in self._side
        scale = max(abs(end - start), self._last.get(witness, 0.0))
        return fresh and abs(start) <= WITNESS_ZERO * scale < np.inf

    def _leaves(self, witness: WitnessFunction, side: int) -> bool:
        """Whether it happens where its function leaves zero to a side.

        Raises
        ------
        SimulationError
            If bodies that met do not part.
        """
        if witness not in self.happened:
            return witness.direction == side
        if witness not in self._separating or side == self._from[witness]:
            return False
        if self.happened[-1] is not witness:
            return True  # something else has happened since: they meet again
        raise SimulationError(
            f"event {witness.name!r}: the bodies do not part after their impact but rest on each "
            "other, and an event takes no time: end the motion there, lock or close what holds "
            "them, or give stops= for joints, and events.landings or load(..., ground=) for points"
        )

    def moved(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Time has gone on to a state at which no event has happened yet."""
        self.happened.clear()
        self._separating.clear()
        for witness in self.witnesses:
            self._values[witness] = value = witness.value(t, q, v)
            self._side[witness] = sign(value)
        self._on_sides = all(
            self._side[x] > 0 if x.one_sided else self._side[x] for x in self.witnesses
        )

    # -- whole steps in which nothing happens ------------------------------------------------------

    @property
    def sure_of_sides(self) -> bool:
        """Whether all functions are on one side of zero, and nothing has happened at this instant.

        Then something happens in a step only if a function is not on that side at its end.
        """
        return self._on_sides and not self.happened

    def steps_without_event(
        self, samples: StepSamples, acting: Callable[[int], None] | None
    ) -> int:
        """How many steps of a block are sure to have no event, and no doubt, at their ends.

        Parameters
        ----------
        samples : StepSamples
        acting : callable, optional
            Lets the forces of a step act, by its number, before functions are asked that may
            depend on them; none if they are the same in all steps.
        """
        checks = dict.fromkeys(x.sure_steps for x in self.witnesses if x.sure_steps is not None)
        count = min((check(samples) for check in checks), default=len(samples.t) - 1)
        if not (count and self._functions):
            return count
        t, q, v = (x[: count + 1] for x in samples[:3])
        if self._starts and not self._starts_off_zero(t, q, v):
            return 0
        together, each = [], []
        for witness in self._functions:
            values = None
            if witness.values is not None and witness not in self._asked_each and len(t) > 2:
                values = witness.values(t[1:], q[1:], v[1:])
                if values is None:
                    self._asked_each.add(witness)
            if values is None:
                each.append(witness)
            else:
                together.append((witness, values))
                count = min(count, _same_side(values, self._side[witness]))
        for j in range(count if each else 0):
            if acting is not None:
                acting(j)
            start = None if acting is None else (float(t[j]), q[j], v[j])
            try:
                if not self._step_without_event(each, float(t[j + 1]), q[j + 1], v[j + 1], start):
                    count = j
                    break
            except KeyboardInterrupt as interrupt:
                self.interrupt, count = interrupt, j
                break
        if count and together and not self._confirmed(together, count, t, q, v):
            return 0
        return count

    def _starts_off_zero(self, t: FloatArray, q: FloatArray, v: FloatArray) -> bool:
        """Whether no function starts at zero but for rounding, as its first step shows."""
        for witness in self._functions:
            try:
                value, start = witness.value(float(t[1]), q[1], v[1]), self._values[witness]
            except Exception:
                return False
            if abs(start) <= WITNESS_ZERO * abs(value - start):
                return False
        self._starts = False
        return True

    def _step_without_event(
        self,
        witnesses: Sequence[WitnessFunction],
        t: float,
        q: FloatArray,
        v: FloatArray,
        start: tuple[float, FloatArray, FloatArray] | None,
    ) -> bool:
        """Whether there is no event in a step from where time has come to, to a state.

        Parameters
        ----------
        witnesses : sequence of WitnessFunction
        t, q, v : float [s], ndarray, ndarray
            The end of the step.
        start : tuple, optional
            The same at its start, if functions may have changed there.
        """
        new = {}
        for witness in witnesses:
            side, before = self._side[witness], self._values[witness]
            try:
                if start is not None and witness.of_state:
                    before = witness.value(*start)
                new[witness] = value = witness.value(t, q, v)
            except Exception:  # it shows again, where it is known what to do about it
                return False
            if sign(value) != side or sign(before) != side:
                return False
            self._from[witness], self._scale[witness] = side, abs(value - before)
        self._values |= new
        return True

    def _confirmed(
        self,
        together: Sequence[tuple[WitnessFunction, FloatArray]],
        count: int,
        t: FloatArray,
        q: FloatArray,
        v: FloatArray,
    ) -> bool:
        """Take note of values at the end of some steps, asked anew as those of one sample.

        Functions whose values for many samples are others are asked for each from then on.
        """
        new = {}
        for witness, values in together:
            numbers = []
            try:
                for k in range(max(count - 1, 1), count + 1):
                    numbers.append(witness.value(float(t[k]), q[k], v[k]))
            except Exception:
                self._asked_each.add(witness)
                return False
            known = values[count - len(numbers) : count]
            if np.abs(known - numbers).max() > WITNESS_OF_SAMPLES * np.abs(values[:count]).max():
                self._asked_each.add(witness)
                return False
            before = self._values[witness] if count == 1 else numbers[0]
            side = self._side[witness]
            new[witness] = side, abs(numbers[-1] - before), numbers[-1]
        for witness, (side, scale, value) in new.items():
            self._from[witness], self._scale[witness], self._values[witness] = side, scale, value
        return True

    def done(self, witness: WitnessFunction, must_separate: bool) -> None:
        """An event was applied; ``must_separate``: see `Change`."""
        self.happened.append(witness)
        self._last[witness] = self._scale.get(witness, 0.0)
        if must_separate:
            self._separating.add(witness)

    def carried_across(
        self, witnesses: Sequence[WitnessFunction], t: float, q: FloatArray, v: FloatArray
    ) -> tuple[WitnessFunction, ...]:
        """Which a jump to another state makes happen at the same instant; each happens once."""
        found = []
        for witness in witnesses:
            now, before = sign(witness.value(t, q, v)), self._side.get(witness, 0)
            if witness not in self.happened and now == -before != 0 and witness.direction != before:
                found.append(witness)
        return tuple(found)

    def restart(self, witnesses: Iterable[WitnessFunction] | None = None) -> None:
        """The state has jumped, or there are other witness functions from then on."""
        self.witnesses = self.witnesses if witnesses is None else tuple(witnesses)
        self._functions = tuple(x for x in self.witnesses if x.sure_steps is None)
        self._on_sides = self._starts = False
        self._side.clear()

    def start(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Know on which sides of zero functions of time and state are where a motion starts."""
        values = {}
        for witness in self.witnesses:
            if witness.sure_steps or witness.of_state or witness.already:
                return  # they depend on forces that are not known yet
            try:
                values[witness] = witness.value(t, q, v)
            except Exception:  # it shows again in the first step
                return
            if not values[witness]:
                return
        self._values |= values
        self._side = {witness: sign(value) for witness, value in values.items()}
        self._on_sides = self._starts = True


def _growth(gap: Callable[[float], float], start: float, part: float) -> float:
    """By how much a gap is larger than at the start."""
    return gap(part) - start


def _same_side(values: FloatArray, side: int) -> int:
    """How many of the first values are on a side of zero without doubt."""
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        values = np.where(np.isfinite(values), values, 0.0)  # which is no sure side
        largest = np.abs(values).max(initial=0.0)
    sure = side * values > WITNESS_SIGN * largest
    return len(values) if sure.all() else int(sure.argmin())
