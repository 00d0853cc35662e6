"""Rows of a sweep computed by local worker processes, which may die, or by threads.

Workers are started anew, not forked: a fork copies locks of threads that it does not copy. Each
computes one task at a time, so that it is known which one was lost with it.

Threads compute compiled code at once, and Python in turns, at some loss. How much of the time they
compute says which of it a study is; where they do not help, rows are computed one after another.
The numbers are the same.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import suppress
from contextvars import copy_context
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any

from robodyn.caller import for_threads
from robodyn.codegen import get_num_threads, set_num_threads
from robodyn.errors import SweepError
from robodyn.studies.sweep.rows import Done, RowResult, StudyCall, StudyRunner

#: After how many workers have died of a task it is given up.
DEATHS = 2

ADVICE = (
    "worker processes import the study by its name: define it at the top level of a module, or of "
    "a script that calls rd.sweep under `if __name__ == '__main__':`; or leave processes out: "
    "threads take any function"
)


def by_processes(work: StudyRunner, tasks: Iterator[StudyCall], count: int) -> Iterator[Done]:
    """Yield rows as they are done. The task of a worker that dies is given to another one.

    Raises `SweepError` if workers cannot be given the study.
    """
    try:
        payload = pickle.dumps((work, max(1, get_num_threads() // count)))
    except Exception as error:
        raise SweepError(
            f"the study cannot be sent to worker processes ({error}): {ADVICE}"
        ) from error
    again: deque[StudyCall] = deque()
    deaths: Counter[int] = Counter()
    queue = _Queue(again, tasks)
    workers = [_Worker(task) for task in islice(queue, count)]
    try:
        for worker in workers:
            worker.begin(payload)
        while workers:
            for worker in _ready(workers):
                done = worker.receive()
                if done == []:  # it has begun
                    continue
                if done is None:
                    done = _after_death(worker, deaths, again)
                    worker.end()
                    workers.remove(worker)
                    for worker in map(_Worker, islice(queue, 1)):
                        workers.append(worker)
                        worker.begin(payload)
                elif (task := next(queue, None)) is not None:
                    worker.give(task)
                else:
                    worker.end()
                    workers.remove(worker)
                if done:
                    yield done
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.end()


class _Queue:
    """Tasks to repeat, then the remaining ones. An empty queue may get tasks again."""

    def __init__(self, again: deque[StudyCall], tasks: Iterator[StudyCall]) -> None:
        self._again, self._tasks = again, tasks

    def __iter__(self) -> Iterator[StudyCall]:
        return self

    def __next__(self) -> StudyCall:
        return self._again.popleft() if self._again else next(self._tasks)


def _ready(workers: list[_Worker]) -> list[_Worker]:
    """Wait until a worker has a message or has died, and return all such workers."""
    ready = wait([worker.pipe for worker in workers])
    return [worker for worker in workers if worker.pipe in ready]


def _after_death(worker: _Worker, deaths: Counter[int], again: deque[StudyCall]) -> Done:
    """Queue the task of a dead worker again, or give it up."""
    rows = worker.task.rows
    deaths[rows.start] += 1
    if deaths[rows.start] < DEATHS:
        again.append(worker.task)
        return []
    message = f"{DEATHS} worker processes died of it ({worker.end()})"
    return [(row, RowResult({}, message, lost=True)) for row in rows]


class _Worker:
    """A process that computes one task after the other."""

    def __init__(self, task: StudyCall) -> None:
        context = multiprocessing.get_context("spawn")
        self.task, self._began = task, False
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,), daemon=True)
        self.process.start()
        there.close()  # when the process dies, nobody holds this end

    def begin(self, payload: bytes) -> None:
        """Send the study and the first task."""
        with suppress(OSError):  # it has died already: `receive` finds that out
            self.pipe.send_bytes(payload)
        self.give(self.task)

    def give(self, task: StudyCall) -> None:
        """Send a task."""
        self.task = task
        with suppress(OSError):
            self.pipe.send(task)

    def receive(self) -> Done | None:
        """Finished rows; an empty list after starting; ``None`` if the worker has died.

        Raises `SweepError` if the worker could not start.
        """
        try:
            message: Any = self.pipe.recv()
        except (EOFError, OSError):
            if self._began:
                return None
            raise SweepError(f"a worker process did not start ({self.end()}): {ADVICE}") from None
        if isinstance(message, str):
            raise SweepError(f"a worker process cannot load the study ({message}): {ADVICE}")
        self._began = True
        return message  # type: ignore[no-any-return]

    def end(self) -> str:
        """End the process, and return a description of how it ended."""
        self.pipe.close()
        self.process.join(0.2)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        code = self.process.exitcode or 0
        return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"


def _serve(pipe: Connection) -> None:
    """Compute tasks until the parent process closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    try:
        work, threads = pickle.loads(pipe.recv_bytes())
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        os._exit(0)
    set_num_threads(threads)
    try:
        pipe.send([])
        while True:
            pipe.send(work(pipe.recv()))
    except (EOFError, OSError):  # the other process has what it wants, or has died
        pass


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
    with futures.ThreadPoolExecutor(count) as pool:

        def begun(most: int) -> set[futures.Future[tuple[Done, float]]]:
            # each with the caller's context, such as numpy.errstate, which rows by its thread have
            return {
                pool.submit(copy_context().run, timed, work, task) for task in islice(tasks, most)
            }

        share, running, helped = _Share(), begun(count), True
        while running:
            finished, running = futures.wait(running, return_when=futures.FIRST_COMPLETED)
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
