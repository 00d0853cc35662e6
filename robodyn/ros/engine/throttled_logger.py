"""Rate-limited warnings: one of each kind per interval, with a count of those left out."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["ThrottledLogger"]


class ThrottledLogger:
    """Logs at most one warning of each kind within an interval.

    Parameters
    ----------
    log : callable
        Gets the text.
    interval : float [s]
    clock : callable
        Seconds that only grow.

    Attributes
    ----------
    counts : dict of str to int
        How often each kind happened.
    """

    def __init__(
        self,
        log: Callable[[str], object],
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._interval, self._clock = log, interval, clock
        self.counts: dict[str, int] = {}
        #: For each kind: time of the last log entry, and the count at that time.
        self._logged: dict[str, tuple[float, int]] = {}

    def __call__(self, kind: str, text: str) -> None:
        """Warn about ``text``, unless its kind has been warned of a short while ago."""
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        now = self._clock()
        when, counted = self._logged.get(kind, (-float("inf"), 0))
        if now - when < self._interval:
            return
        silent = count - counted - 1
        self._logged[kind] = now, count
        self._log(f"{text} ({silent} more like it)" if silent else text)
