"""Detects events within a step: which witness function crosses zero first, and where."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence

from robodyn.array_types import FloatArray
from robodyn.errors import SimulationError
from robodyn.simulation.events.crossing import crossing, departure, sign
from robodyn.simulation.events.event_free_steps import starts_off_zero, steps_without_event
from robodyn.simulation.events.witness_function import StepSamples, WitnessFunction, WitnessState
from robodyn.tolerances import EVENT_TIME_PRECISION, GAP_CLOSING, SAME_EVENT_TIME, WITNESS_ZERO

__all__ = ["EventDetector"]

#: Part of a step [s] -> state there.
After = Callable[[float], tuple[FloatArray, FloatArray]]


class EventDetector:
    """The side of zero of each witness function, and the events of this instant.

    Attributes
    ----------
    happened : list of WitnessFunction
        Events of this instant, in order.
    """

    def __init__(self) -> None:
        self._states: dict[WitnessFunction, WitnessState] = {}
        self._watched: list[WitnessState] = []
        self._on_sides = False
        self._starts = False  # at the start of the motion, with sides by values alone
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
        """When an event happens in this part of a step [s]; ``None``: it does not."""
        witness, start, end, low = state.function, f(0.0), f(h), 0.0
        if witness.one_sided and start < 0.0:  # it is looked for where it becomes smaller still
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
        elif sign(start) != side:  # it has changed by itself
            state.stepped(side, end - start)
            return None if witness.direction == side else 0.0
        state.stepped(side, end - start)
        if low >= h or sign(end) == side or witness.direction == side:
            return None
        return crossing(f, low, h, EVENT_TIME_PRECISION * step)

    def _at_zero(self, state: WitnessState, start: float, end: float, side: int) -> bool:
        """Whether a function starts at zero, so that its side shows only when it leaves."""
        if side == 0 or (state.function.one_sided and start <= 0.0):
            return True
        fresh = state.side is None or state.function in self.happened
        scale = max(abs(end - start), state.change_at_event)
        return fresh and abs(start) <= WITNESS_ZERO * scale < math.inf

    def _leaves(self, state: WitnessState, side: int) -> bool:
        """Whether it happens where its function leaves zero to a side.

        Raises
        ------
        SimulationError
            If bodies that met do not part.
        """
        witness = state.function
        if witness not in self.happened:
            return witness.direction == side
        if not state.must_separate or side == state.came_from:
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
        for state in self._states.values():
            state.must_separate = False
        for state in self._watched:
            state.value = state.function.value(t, q, v)
            state.side = sign(state.value)
        self._on_sides = all(x.side == 1 if x.function.one_sided else x.side for x in self._watched)

    # -- jumps ------------------------------------------------------------------------------------

    def done(self, witness: WitnessFunction, must_separate: bool) -> None:
        """An event was applied; ``must_separate``: see `Change`."""
        self.happened.append(witness)
        state = self._state(witness)
        state.change_at_event = state.change
        state.must_separate |= must_separate

    def carried_across(
        self, witnesses: Sequence[WitnessFunction], t: float, q: FloatArray, v: FloatArray
    ) -> tuple[WitnessFunction, ...]:
        """Which a jump to another state makes happen at the same instant; each happens once."""
        found = []
        for witness in witnesses:
            now, before = sign(witness.value(t, q, v)), self._state(witness).side or 0
            if witness not in self.happened and now == -before != 0 and witness.direction != before:
                found.append(witness)
        return tuple(found)

    def restart(self, witnesses: Iterable[WitnessFunction] | None = None) -> None:
        """The state has jumped, or there are other witness functions from then on.

        Parameters
        ----------
        witnesses : iterable of WitnessFunction, optional
            In the order in which they are applied where they happen at one instant.
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
        """Know on which sides of zero functions of time and state are where a motion starts."""
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
    def sure_of_sides(self) -> bool:
        """Whether all functions are on one side of zero, and nothing has happened at this instant.

        Then something happens in a step only if a function is not on that side at its end.
        """
        return self._on_sides and not self.happened

    def steps_without_event(
        self, samples: StepSamples, acting: Callable[[int], None] | None
    ) -> tuple[int, KeyboardInterrupt | None]:
        """How many steps of a block are sure to have no event: see `steps_without_event`."""
        if self._starts and not starts_off_zero(self._watched, samples):
            return 0, None
        self._starts = False
        return steps_without_event(self._watched, samples, acting)


def _growth(gap: Callable[[float], float], start: float, part: float) -> float:
    """By how much a gap is larger than at the start."""
    return gap(part) - start
