"""Zeno behaviour: events that happen again and again, in ever shorter intervals."""

from __future__ import annotations

import itertools

import numpy as np

from robodyn.errors import SimulationError

#: Largest number of events at one instant.
MOST_AT_AN_INSTANT = 100
#: Behaviour is Zeno if this many successive intervals are shorter than this fraction of a step.
SHORT_INTERVAL, INTERVALS = 1e-2, 3


class Zeno:
    """The latest times of events by name, from which Zeno behaviour is detected."""

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = {}
        self._count: dict[str, int] = {}
        self._rested: dict[str, float] = {}
        self._now, self._at_once = -1.0, 0

    def is_endless(self, name: str, t: float, step: float, *, may_rest: bool = False) -> bool:
        """Note an event, and return whether its behaviour is Zeno.

        t, step [s]
        may_rest: The caller can end the behaviour, as a stop that holds its joint from then on. An
            error is raised only if that does not help.
        Raises SimulationError: For Zeno behaviour.
        """
        endless = self._note(name, t, step)
        if endless:
            if not may_rest or t - self._rested.get(name, -np.inf) <= step:
                raise self._endless(name, t)
            self._rested[name] = t
            del self._times[name][:-1]
        return endless

    def _note(self, name: str, t: float, step: float) -> bool:
        """Note an event, and return whether its latest intervals are too short."""
        self._at_once = self._at_once + 1 if t == self._now else 1
        self._now = t
        if self._at_once > MOST_AT_AN_INSTANT:
            raise SimulationError(
                f"{MOST_AT_AN_INSTANT} events have happened at t = {t:.9g} s, the last {name!r}: "
                "each makes another happen, without end"
            )
        self._count[name] = self._count.get(name, 0) + 1
        times = self._times.setdefault(name, [])
        times += [t] if t not in times[-1:] else []
        del times[: -INTERVALS - 1]
        intervals = self._intervals(name)
        return len(intervals) == INTERVALS and max(intervals) <= SHORT_INTERVAL * step

    def _intervals(self, name: str) -> list[float]:
        return [b - a for a, b in itertools.pairwise(self._times[name])]

    def _endless(self, name: str, t: float) -> SimulationError:
        """The error for an event with Zeno behaviour."""
        intervals = self._intervals(name)
        ratio = intervals[-1] / intervals[-2] if intervals[-2] else 1.0
        ends = ""
        if ratio < 1.0:
            end = t + intervals[-1] * ratio / (1.0 - ratio)
            ends = f", {ratio:.3g} times the one before: without end until t = {end:.9g} s"
        return SimulationError(
            f"event {name!r} has happened {self._count[name]} times until t = {t:.9g} s, the last "
            f"time after {intervals[-1]:.3g} s{ends}. An event takes no time, and cannot hold what "
            "rests there: end the motion or hold the joint before (then=), or give stops= for "
            "joints, and events.landings or load(..., ground=) for points; or take shorter steps, "
            "if it is to happen that often"
        )
