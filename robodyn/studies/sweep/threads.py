"""Rows of a sweep computed by threads of this process, where that is faster than one by one.

Threads compute compiled code at once, and Python in turns, at some loss. How much of the time they
compute says which of it a study is; where they do not help, rows are computed one after another.
The numbers are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import islice

from robodyn.caller import for_threads
from robodyn.codegen import get_num_threads
from robodyn.studies.sweep.rows import Done, StudyCall, StudyRunner

#: How much more threads have to compute in the same time than one thread does: all of the time, as
#: long as none has computed alone.
GAIN = 1.15

#: Time and rows of each thread after which that is judged.
TRIAL, ROWS = 0.02, 2

#: Time of rows one after another before threads are tried again: a trial costs little of it.
ALONE = 25.0 * TRIAL

#: Time of rows one after another after which it is said that threads do not help.
LONG = 10.0


def by_threads(work: StudyRunner, tasks: Iterator[StudyCall]) -> Iterator[Done]:
    """Yield rows as they are done, by the threads that `robodyn.set_num_threads` allows."""
    count, least, lasted = get_num_threads(), GAIN, 0.0
    while True:
        if count > 1:
            yield from _side_by_side(work, tasks, count, least)
        share = _Share()
        for task in tasks:
            done, used = _timed(work, task)
            yield done
            if share.judged(used, 1, ALONE) and count > 1:
                break
        else:
            return
        least = GAIN * share.of_time
        if lasted <= LONG < lasted + ALONE:
            _log_threads_do_not_help()
        lasted += ALONE


class _Share:
    """How much of the time is spent computing, since it was made."""

    def __init__(self) -> None:
        self._began, self._used, self._rows = time.perf_counter(), 0.0, 0
        self.of_time = 0.0

    def judged(self, used: float, rows: int, least: float) -> bool:
        """Add what a row computed [s]; whether there are so many rows and so much time [s]."""
        self._used, self._rows = self._used + used, self._rows + 1
        took = time.perf_counter() - self._began
        self.of_time = self._used / took if took > 0.0 else 1.0
        return self._rows >= rows and took >= least


def _timed(work: Callable[[StudyCall], Done], task: StudyCall) -> tuple[Done, float]:
    """Rows, and the time of this thread that they took [s]."""
    began = time.thread_time()
    done = work(task)
    return done, time.thread_time() - began


def _side_by_side(
    work: StudyRunner, tasks: Iterator[StudyCall], count: int, least: float
) -> Iterator[Done]:
    """Rows as long as threads compute at least this share of the time, all together."""
    timed = for_threads(_timed)
    with ThreadPoolExecutor(count) as pool:

        def begun(most: int) -> set[Future[tuple[Done, float]]]:
            # each with the caller's context, such as numpy.errstate, which rows by its thread have
            return {
                pool.submit(copy_context().run, timed, work, task) for task in islice(tasks, most)
            }

        share, running, helped = _Share(), begun(count), True
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                done, used = future.result()
                yield done
                if share.judged(used, ROWS * count, TRIAL):
                    helped, share = helped and share.of_time >= least, _Share()
                running |= begun(1) if helped else set()


def _log_threads_do_not_help() -> None:
    import logging  # takes a while to import, and is hardly ever needed

    logging.getLogger(__name__).warning(
        "rows of this sweep spend their time in Python, which threads do not share: they are "
        "computed one after another; processes= computes them side by side, batch= together"
    )
