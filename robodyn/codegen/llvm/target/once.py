"""Values that are computed once in a process, by the first thread that uses them.

One lock guards the computation of all values in the process. Tracing and compiling in several
threads would not be faster, as each thread holds the lock of the interpreter or of LLVM, and a
single lock cannot lead to deadlocks. Values that exist are found without the lock.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")

_lock = threading.RLock()


def making() -> threading.RLock:
    """The lock to hold, by ``with``, while a value is computed."""
    return _lock


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Context in which Python does not look for garbage.

    Programs are traced and written, and modules imported, as many objects that stay: to go through
    all of them again and again takes a tenth of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Memo(Generic[Value]):
    """Values by key, each computed by the first thread that uses it.

    A value is never replaced, so that machine code may point into it as long as the memo lives.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Value] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, computed if there is none yet.

        make: Called without arguments, at most once for a key unless it raises. It may ask the memo
            for other keys.
        """
        try:
            return self._values[key]
        except KeyError:
            pass
        with _lock:
            if key not in self._values:
                with without_collections():
                    self._values[key] = make()
            return self._values[key]


def once(make: Callable[[], Value]) -> Callable[[], Value]:
    """Decorator of a function without arguments, which runs once; later calls return its result."""
    memo: Memo[Value] = Memo()

    @functools.wraps(make)
    def made() -> Value:
        return memo.get(None, make)

    return made


def _renew_lock() -> None:
    """In a forked process, which has no other thread."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # A fork waits until nothing is being made: a lock of LLVM that another thread holds would be
    # held for ever in the forked process, which has no such thread.
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_renew_lock,
    )
