"""Logging of long searches: a search that takes long says once what it searches for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from robodyn.quick_dataclass import dataclass

#: A search that lasts longer [s] is logged.
LONG = 10.0


@dataclass
class _Search:
    purpose: str
    began: float
    told: bool = False


_outermost: ContextVar[_Search | None] = ContextVar("search", default=None)


@contextmanager
def search(purpose: str) -> Iterator[None]:
    """Context of a search ``"for a random posture of 'delta'"``, or of a part of one going on."""
    if _outermost.get() is not None:
        yield
        return
    token = _outermost.set(_Search(purpose, time.monotonic()))
    try:
        yield
    finally:
        _outermost.reset(token)


def going_on(doing: str) -> None:
    """Called between the steps of a search; says which comes next if it has lasted long."""
    now = _outermost.get()
    if now is None or now.told or time.monotonic() - now.began < LONG:
        return
    now.told = True
    import logging  # takes a while to import, and is hardly ever needed

    logging.getLogger(__name__).warning(
        "robodyn searches %s for %.0f s now: %s. It goes on; Ctrl-C ends it. A start nearer to a "
        "closed posture, as near= of load or the guess, is found sooner.",
        now.purpose,
        time.monotonic() - now.began,
        doing,
    )
