"""Warnings that do not flood a log: repeated ones are counted."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Largest number of different texts of `ThrottledLogger.each` within an interval.
MOST_TEXTS = 50


class ThrottledLogger:
    """Logs at most one warning of each kind within an interval.

    log: Gets the text.
    interval [s]
    clock: Seconds that only grow.
    counts: How often each kind happened; those of `each` are one kind, ``"each"``.
    """

    def __init__(
        self,
        log: Callable[[str], object],
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._interval, self._clock = log, interval, clock
        self.counts: dict[str, int] = {}
        #: For each kind: time of the last log entry, its text, and how many came since then.
        self._logged: dict[str, tuple[float, str, int]] = {}
        #: The same for each text of `each`.
        self._texts: dict[str, tuple[float, str, int]] = {}

    def __call__(self, kind: str, text: str) -> None:
        """Warn about ``text``, unless its kind has been warned of a short while ago."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._throttled(self._logged, kind, text)

    def each(self, text: str) -> None:
        """Warn about ``text``, unless the same text has been logged a short while ago.

        Of very many different texts within the interval the last ones are counted only.
        """
        self.counts["each"] = self.counts.get("each", 0) + 1
        if text not in self._texts and len(self._texts) >= MOST_TEXTS:
            self._forget_old_texts()
            if len(self._texts) >= MOST_TEXTS:
                text = "more refusals, each of them another"
        self._throttled(self._texts, text, text)

    def close(self) -> None:
        """Log how often what was counted last has happened since it was logged."""
        for known in (self._logged, self._texts):
            for _, text, silent in known.values():
                if silent:
                    self._log(f"{text} ({silent} more like it)")
            known.clear()

    def _throttled(self, known: dict[str, tuple[float, str, int]], key: str, text: str) -> None:
        now = self._clock()
        when, _, silent = known.get(key, (-float("inf"), "", 0))
        if now - when < self._interval:
            known[key] = when, text, silent + 1
            return
        known[key] = now, text, 0
        self._log(f"{text} ({silent} more like it)" if silent else text)

    def _forget_old_texts(self) -> None:
        now = self._clock()
        for key, (when, text, silent) in [*self._texts.items()]:
            if now - when >= self._interval:
                del self._texts[key]
                if silent:
                    self._log(f"{text} ({silent} more like it)")
