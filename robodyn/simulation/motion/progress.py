"""Progress of a simulation: a callback, or a bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

#: Called with the finished part, 0 to 1.
Progress = Callable[[float], None]

WIDTH = 40


def reporter(progress: Progress | bool | None) -> Progress:
    """The function of ``progress=``, a bar for ``True``, else a function that does nothing."""
    if callable(progress):
        return progress
    return bar if progress and sys.stderr.isatty() else lambda part: None


def bar(part: float) -> None:
    """Draw a bar on standard error, over the one before; a full one ends the line."""
    filled = round(WIDTH * part)
    text = f"\r  [{'#' * filled}{'.' * (WIDTH - filled)}] {100 * part:3.0f} %"
    print(text, end="\n" if part >= 1.0 else "", file=sys.stderr, flush=True)
