"""Pacing of publications in real time, with counts of overruns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from robodyn.ros.states.throttled_logger import ThrottledLogger

#: Longest delay that is caught up [s]; publications beyond it are dropped.
CATCH_UP = 2.0
#: A clock that advances by more than this between two calls [s] has jumped.
JUMP = 10.0
#: Publications in one go: half of what waits for a reader, whose queue must not overflow.
BURST = 5
#: Longest duration of a burst [s]; then commands and services are handled.
SLICE = 0.02
#: Times that two clocks are read, at most, until less than this [ns] lies between them.
TRIES, TOGETHER = 5, 50_000


#: A clock that goes back by less than this between two stamps [ns] was read late, not set back.
UNEVEN = 1_000_000_000


class Stamps:
    """Time stamps that increase, although two clocks cannot be read at the same instant."""

    def __init__(self) -> None:
        self._last: int | None = None

    def next(self, stamp: int) -> int:
        """The stamp, or one just after the last, if it is not later; a clock may be set back."""
        if self._last is not None and 0 <= self._last - stamp < UNEVEN:
            stamp = self._last + 1
        self._last = stamp
        return stamp


@dataclass
class Pace:
    """Keeps simulated time beside a clock, one publication a period, late ones included.

    rate [Hz]: Publications a second of the clock.
    factor: Simulated seconds in a second.
    step [s]
    overruns: Publications that came late by a period or more.
    dropped: Publications that were left out because the delay was too long.
    jumps: Times the clock went backwards, or far ahead.
    """

    rate: float
    factor: float
    step: float
    overruns: int = 0
    dropped: int = 0
    jumps: int = 0
    _start: int | None = None
    _periods: int = 0
    _reported: tuple[int, int, int] = (0, 0, 0)

    def changed(self, rate: float, factor: float, step: float) -> Pace:
        """With other numbers, from the next call on; what was counted stays."""
        return replace(self, rate=rate, factor=factor, step=step, _start=None, _periods=0)

    def restart(self) -> None:
        """Count from the next call on."""
        self._start = None

    def next(self, now: int) -> tuple[int, int] | None:
        """The publication that is due at ``now`` [ns], and counts as done.

        Returns due: Steps before it, and how long ago it ought to have been [ns].
        """
        if self._start is None:
            return self._restart(now)
        count = self._overdue(now)
        if count < 0 or count > JUMP * self.rate + 1.0:
            self.jumps += 1
            return self._restart(now)
        if count == 0:
            return None
        lost = max(count - max(1, int(CATCH_UP * self.rate)), 0)
        self._periods += lost + 1
        self.dropped += lost
        ago = now - self._at(self._periods)
        self.overruns += ago >= self._at(1) - self._at(0)
        before = self._steps(self._periods - 1)
        return self._steps(self._periods) - before, max(ago, 0)

    def behind(self, now: int) -> bool:
        """Whether a publication is due."""
        return self._start is not None and self._overdue(now) != 0

    def report(self, log: ThrottledLogger) -> None:
        """Warn of what has gone wrong since the last call."""
        before, self._reported = self._reported, (self.overruns, self.dropped, self.jumps)
        texts = {
            "overrun": f"publications that came late so far: {self.overruns}",
            "dropped": f"more than {CATCH_UP:g} s behind the clock: publications left out so far, "
            f"with the time they stand for: {self.dropped}; if that goes on, lower rate or "
            "real_time_factor, or raise step",
            "clock": f"the clock jumped, or the computer stood still for {JUMP:g} s; the "
            "simulation goes on from where it was",
        }
        for (kind, text), then, now in zip(texts.items(), before, self._reported, strict=True):
            if now > then:
                log(kind, text)

    def _overdue(self, now: int) -> int:
        # half a period of slack: a timer that fires a little early is on time
        elapsed = 1e-9 * (now - int(self._start or 0))
        return int(elapsed * self.rate + 0.5) - self._periods

    def _at(self, period: int) -> int:
        return int(self._start or 0) + round(1e9 * period / self.rate)

    def _steps(self, period: int) -> int:
        return int(period * self.factor / (self.rate * self.step) + 1e-6)

    def _restart(self, now: int) -> tuple[int, int]:
        self._start, self._periods = now, 0
        return 0, 0


def read_together(one: Callable[[], int], other: Callable[[], int]) -> tuple[int, int]:
    """What two clocks [ns] show at one instant.

    Of a few tries the quickest counts: a busy computer may do other things between two clocks.
    """
    found: list[tuple[int, int, int]] = []
    for _ in range(TRIES):
        before, there = one(), other()
        after = one()
        found.append((after - before, after, there))
        if after - before < TOGETHER:
            break
    return min(found)[1:]


def burst(pace: Pace, clock: Callable[[], int]) -> Iterator[tuple[int, int]]:
    """What is due by a clock [ns], but no more than readers can take at once.

    The rest is due still at the next call.

    Returns due: As from `Pace.next`.
    """
    end = time.monotonic() + SLICE
    for _ in range(BURST):
        due = pace.next(clock())
        if due is None:
            return
        yield due
        if time.monotonic() > end:
            return


def summary(published: int, late: int) -> str:
    """What a node says in the end."""
    return f"{published} states published, {late} late"
