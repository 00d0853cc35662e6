"""How many steps are due at a time, and how often the clock was missed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pace"]

#: Publication periods that are made up for after a delay; the rest is dropped.
CATCH_UP = 4


@dataclass
class Pace:
    """Keeps simulated time beside a clock.

    Attributes
    ----------
    rate : float [Hz]
        Publications a second of the clock.
    factor : float
        Simulated seconds in a second.
    step : float [s]
    overruns : int
        Publications that were missed because the computer was late.
    jumps : int
        Times the clock went backwards, or far ahead.
    """

    rate: float
    factor: float
    step: float
    overruns: int = 0
    jumps: int = 0
    _start: int | None = None
    _done: int = 0

    def restart(self) -> None:
        """Count from the next call on."""
        self._start = None

    def due(self, now: int) -> int:
        """Steps that are due at ``now`` [ns]; they count as done."""
        if self._start is None:
            self._start, self._done = now, 0
            return 0
        elapsed = 1e-9 * (now - self._start)
        due = int(elapsed * self.factor / self.step + 1e-6) - self._done
        period = self.factor / (self.rate * self.step)  # steps between publications
        if due < 0 or due > period * self.rate * 10.0 + period * CATCH_UP:
            self.jumps += 1
            self._start, self._done = now, 0
            return 0
        late = int(due / max(period, 1.0) + 1e-6) - 1
        if late > 0:
            self.overruns += late
        most = int(max(CATCH_UP * period, 1.0))
        self._done += due
        return min(due, most)
