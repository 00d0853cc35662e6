"""Progress on the terminal: a bar, or a line that says what takes more than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Time [s] after which the line is shown.
AFTER = 1.0

_own = threading.local()


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Say what is done within, if it takes long; the line goes when it is done.

    It is written to ``sys.stderr``, and only if that is a terminal. What is done within something
    that is shown already is not shown.

    what: ``"compiling forward_dynamics"``.
    """
    if getattr(_own, "busy", False) or not _is_terminal():
        yield
        return
    shown = threading.Event()

    line = f"robodyn: {what} ..."

    def show() -> None:
        shown.set()
        _write(f"\r{line}")

    timer = threading.Timer(AFTER, show)
    timer.daemon = True
    timer.start()
    _own.busy = True
    try:
        yield
    finally:
        _own.busy = False
        timer.cancel()
        timer.join()
        if shown.is_set():
            _write(f"\r{' ' * len(line)}\r")


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # a terminal that has gone is no reason to fail
        pass


#: Called with the finished part, 0 to 1.
Progress = Callable[[float], None]

#: Characters of a bar.
WIDTH = 40


def reporter(progress: Progress | bool | None) -> Progress:
    """The function of ``progress=``, a bar for ``True``, else a function that does nothing."""
    if callable(progress):
        return progress
    return bar if progress and _is_terminal() else lambda part: None


def bar(part: float) -> None:
    """Draw a bar on standard error, over the one before; a full one ends the line."""
    filled = round(WIDTH * part)
    text = f"\r  [{'#' * filled}{'.' * (WIDTH - filled)}] {100 * part:3.0f} %"
    print(text, end="\n" if part >= 1.0 else "", file=sys.stderr, flush=True)
