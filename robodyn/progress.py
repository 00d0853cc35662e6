"""A line on the terminal that says what is done, where it takes more than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
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
