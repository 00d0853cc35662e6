"""Rows of a sweep computed by threads of this process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice

from robodyn.codegen import get_num_threads
from robodyn.studies.sweep.work import Done, Task, Work

__all__ = ["by_threads"]


def by_threads(work: Work, tasks: Iterator[Task]) -> Iterator[Done]:
    """Yield rows as they are done, by the threads that `robodyn.set_num_threads` allows."""
    count = get_num_threads()
    if count == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(count) as pool:
        running = {pool.submit(work, task) for task in islice(tasks, count)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                running |= {pool.submit(work, task) for task in islice(tasks, 1)}
