"""Batches spread over threads that wait in machine code, without the interpreter's lock.

They are started by Python's C API and never run Python. What Python calls a thread may be none: it
is a coroutine of this thread where gevent or eventlet has replaced the module ``_thread``.
"""

from __future__ import annotations

import _thread
import ctypes
import os
from typing import Any

from robodyn.arrays import mismatch, whole
from robodyn.codegen.llvm.batches.thread_pool import HEAD, WORKER, thread_pool_ir
from robodyn.codegen.llvm.cache.object_code import generator_key
from robodyn.codegen.llvm.compilation.machine_code import MachineCode, machine_code
from robodyn.codegen.llvm.target.once import once
from robodyn.codegen.llvm.target.target import Recipe, chosen_target

#: Largest number of threads.
MAX_THREADS = 256

#: What Python's C API returns where a thread cannot be started.
NO_THREAD = ctypes.c_ulong(-1).value

#: A number larger than any amount of work.
NEVER = 1 << 62

_words = (ctypes.c_int64 * (len(HEAD) + MAX_THREADS * len(WORKER)))()
#: Work up to which the call entry needs no worker that has yet to be started.
_limit = ctypes.c_int64(NEVER)
_starting = _thread.allocate_lock()


def _python(name: str, *kinds: Any) -> Any:
    return ctypes.CFUNCTYPE(*kinds)((name, ctypes.pythonapi))


def _new_lock(held: bool) -> int:
    """A lock that is never freed: a worker waits for it until the process ends."""
    lock = _python("PyThread_allocate_lock", ctypes.c_void_p)()
    if held:
        _python("PyThread_acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(lock, 1)
    return int(lock)


def _reset() -> None:
    """Reset to no workers: initially, and in a forked process, which has no other threads."""
    global _starting
    _starting = _thread.allocate_lock()
    _words[HEAD.index("ready")] = 0
    _words[HEAD.index("busy")] = _new_lock(False)
    _set_limit()


def _set_limit() -> None:
    threads, ready = _words[0], _words[1]
    _limit.value = NEVER if threads <= ready + 1 else 0


def set_num_threads(n: int) -> None:
    """Set how many threads a batch may use.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import robodyn as rd
    >>> before = rd.get_num_threads()
    >>> rd.set_num_threads(1)
    >>> rd.set_num_threads(before)
    """
    count = whole("n", n)
    if count < 1:
        raise mismatch("n", n, "a number of threads, at least 1")
    _words[HEAD.index("threads")] = min(count, MAX_THREADS)
    _set_limit()


def get_num_threads() -> int:
    """Return how many threads a batch may use (at first: the processors of this process).

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.get_num_threads() >= 1
    True
    """
    return _words[HEAD.index("threads")]


def processors() -> int:
    """Number of processors that this process may use or, if not known, of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def limit_address() -> int:
    """Address of the limit of work up to which no worker has to be started."""
    return ctypes.addressof(_limit)


def pool() -> int:
    """Address of the table of threads."""
    return ctypes.addressof(_words)


@once
def _code() -> MachineCode:
    # without optimisation, since this code only distributes work
    recipe = Recipe(level=0)
    key = generator_key("robodyn.codegen.llvm.batches.thread_pool", chosen_target(), recipe)
    return machine_code(key, thread_pool_ir, recipe, "the threads of batches", long=False)


def parallel_for_address() -> int:
    """Address of `parallel_for`."""
    return int(_code().address("parallel_for"))


@once
def parallel_for() -> Any:
    """``parallel_for(pool, kernel, rows, work, lanes, data, strides)``."""
    kinds = (ctypes.c_void_p,) * 2 + (ctypes.c_int64,) * 3 + (ctypes.c_void_p,) * 2
    return ctypes.CFUNCTYPE(None, *kinds)(parallel_for_address())


def start() -> None:
    """Start the workers that are missing."""
    if _words[HEAD.index("ready")] + 1 >= get_num_threads():
        return
    worker = _code().address("worker")
    start_thread = _python("PyThread_start_new_thread", ctypes.c_ulong, *[ctypes.c_void_p] * 2)
    with _starting:
        ready = HEAD.index("ready")
        while _words[ready] + 1 < get_num_threads():
            index = _words[ready]
            first = len(HEAD) + index * len(WORKER)
            own = {"go": _new_lock(True), "done": _new_lock(True), "pool": pool(), "index": index}
            for k, name in enumerate(WORKER):
                _words[first + k] = own.get(name, 0)
            if start_thread(worker, pool() + 8 * first) == NO_THREAD:
                _words[HEAD.index("threads")] = index + 1  # the system allows no more
                break
            _words[ready] += 1
        _set_limit()


for _name in ("acquire", "release"):
    _function = getattr(ctypes.pythonapi, f"PyThread_{_name}_lock")
    _words[HEAD.index(_name)] = ctypes.cast(_function, ctypes.c_void_p).value or 0
set_num_threads(processors())
_reset()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)
