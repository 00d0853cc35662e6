"""Batches spread over threads: the generated code runs without the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["get_num_threads", "in_chunks", "limit_address", "set_num_threads"]

#: Work (rows times operations) below which a second thread costs more than it brings.
WORTHWHILE = 400_000

#: More work than there is.
NEVER = 1 << 62

_pool: ThreadPoolExecutor | None = None
#: Work up to which the call entry does without a second thread; machine code reads it.
_limit = ctypes.c_int64()
_threads = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


def set_num_threads(n: int) -> None:
    """Set how many threads a batch may use.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    ValueError
    """
    global _threads, _pool
    if int(n) != n or n < 1:
        raise ValueError(f"number of threads is {n!r}, expected an integer of at least 1")
    _threads = int(n)
    _limit.value = WORTHWHILE if _threads > 1 else NEVER
    if _pool is not None:
        _pool.shutdown(wait=True)
        _pool = None


def get_num_threads() -> int:
    """Return how many threads a batch may use (at first: the processors of this process)."""
    return _threads


def limit_address() -> int:
    """Where the work (rows times operations) stands that is done in one thread."""
    _limit.value = WORTHWHILE if _threads > 1 else NEVER
    return ctypes.addressof(_limit)


def in_chunks(run: Callable[[int, int], None], rows: int, operations: int, least: int) -> None:
    """Call ``run(begin, end)`` over ``rows`` rows, in parallel where that pays.

    Parameters
    ----------
    run : callable
    rows, operations : int
        Number of rows, and of operations a row.
    least : int
        Smallest number of rows a chunk may have.
    """
    global _pool
    parts = min(_threads, rows // max(least, 1), 1 + rows * operations // WORTHWHILE)
    if parts <= 1:
        run(0, rows)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads, thread_name_prefix="robodyn")
    cuts = [rows * k // parts for k in range(parts + 1)]
    futures = [_pool.submit(run, cuts[k], cuts[k + 1]) for k in range(1, parts)]
    run(cuts[0], cuts[1])
    for future in futures:
        future.result()
