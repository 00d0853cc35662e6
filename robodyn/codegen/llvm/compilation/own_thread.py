"""Calls of functions in a separate thread, which Ctrl-C does not interrupt, with a large stack.

LLVM recurses deeply, and threads of a program may have small stacks. LLVM also holds locks, which
an exception at the wrong moment would never release; Ctrl-C raises an exception in the main thread
alone. When Python exits, no thread may be in LLVM, whose memory is freed then.
"""

from __future__ import annotations

import _thread
import atexit
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

#: Bytes of the stack, the same as for main threads.
STACK = 8 << 20


#: Lock that is held during the calls.
_busy = threading.RLock()


def in_own_thread(work: Callable[[], Result]) -> Result:
    """Call a function in a separate thread; Ctrl-C is raised when it has returned.

    work: It must not make what is made under the lock of `once`, which this thread may hold.
    """
    with _busy:
        return _done(work)


def _done(work: Callable[[], Result]) -> Result:
    results: list[Result] = []
    errors: list[BaseException] = []
    running = _thread.allocate_lock()
    running.acquire()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised below
            errors.append(error)
        running.release()

    before = _thread.stack_size(STACK)
    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:  # no more threads, as while Python ends
        return work()
    finally:
        _thread.stack_size(before)
    interrupt: BaseException | None = None
    while not (results or errors):
        try:
            running.acquire()
        except BaseException as error:  # Ctrl-C
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    return results[0]


# At the end, what has been begun is waited for, and only the main thread begins anything.
atexit.register(_busy.acquire)
