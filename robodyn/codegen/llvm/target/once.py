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
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

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


#: What a fork waits for beside the lock, in this order: contexts of what other threads may be in.
_beside: list[AbstractContextManager[Any]] = []


def wait_for_at_fork(lock: AbstractContextManager[Any]) -> None:
    """Let every fork wait for another lock, too: none that is taken before that of this module."""
    _beside.append(lock)


def _before_fork() -> None:
    _lock.acquire()
    for lock in _beside:
        lock.__enter__()


def _after_fork() -> None:
    for lock in _beside[::-1]:
        lock.__exit__(None, None, None)
    _lock.release()


def _after_fork_in_child() -> None:
    """In a forked process, which has no other thread."""
    global _lock
    _after_fork()
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # A fork waits until nothing is being made: a lock of LLVM that another thread holds would be
    # held for ever in the forked process, which has no such thread.
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
