"""Which publications are due at a time, and how often the clock was missed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pace"]

#: Time [s] that is made up for after a delay; the rest is dropped.
CATCH_UP = 1.0
#: A clock that goes ahead by more [s] has jumped.
JUMP = 10.0


@dataclass
class Pace:
    """Keeps simulated time beside a clock, one publication a period, late ones included.

    Attributes
    ----------
    rate : float [Hz]
        Publications a second of the clock.
    factor : float
        Simulated seconds in a second.
    step : float [s]
    overruns : int
        Publications that came late by a period or more.
    dropped : int
        Publications that were left out because the delay was too long.
    jumps : int
        Times the clock went backwards, or far ahead.
    """

    rate: float
    factor: float
    step: float
    overruns: int = 0
    dropped: int = 0
    jumps: int = 0
    _start: int | None = None
    _periods: int = 0

    def restart(self) -> None:
        """Count from the next call on."""
        self._start = None

    def due(self, now: int) -> list[tuple[int, int]]:
        """Publications that are due at ``now`` [ns], and count as done.

        Returns
        -------
        due : list of (int, int)
            Steps before each, and how long ago it ought to have been [ns].
        """
        if self._start is None:
            return self._restart(now)
        # half a period of slack: a timer that fires a little early is on time
        elapsed = 1e-9 * (now - self._start)
        count = int(elapsed * self.rate + 0.5) - self._periods
        if count < 0 or count > JUMP * self.rate + 1.0:
            self.jumps += 1
            return self._restart(now)
        most = max(1, int(CATCH_UP * self.rate))
        lost = max(count - most, 0)
        self._periods += lost
        self.dropped += lost
        self.overruns += max(count - lost - 1, 0)
        first, self._periods = self._periods, self._periods + count - lost
        return [
            (self._steps(k + 1) - self._steps(k), max(now - self._at(k + 1), 0))
            for k in range(first, self._periods)
        ]

    def _at(self, period: int) -> int:
        return int(self._start or 0) + round(1e9 * period / self.rate)

    def _steps(self, period: int) -> int:
        return int(period * self.factor / (self.rate * self.step) + 1e-6)

    def _restart(self, now: int) -> list[tuple[int, int]]:
        self._start, self._periods = now, 0
        return [(0, 0)]
