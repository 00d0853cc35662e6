"""Rows of a sweep computed by an executor: threads, processes, a Dask cluster, MPI and others."""

from __future__ import annotations

import functools
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from robodyn.caller import for_threads
from robodyn.errors import ShapeError, SweepError, optional
from robodyn.studies.sweep.rows import Done, RowResult, StudyCall, StudyRunner

#: Tasks submitted at a time: more than workers, as these are to find work whatever is under way.
AHEAD = 1000

#: After how many lost results a task is given up.
DROPS = 10

#: After how long without results it is asked whether the executor is still there [s].
PATIENCE = 1.0

RESUME = "with path=, the same call with another executor goes on from what is stored"


def by_executor(
    work: StudyRunner, tasks: Iterator[StudyCall], executor: Executor, failed: Event
) -> Iterator[Done]:
    """Yield rows as they are done. Once it has ``failed``, what is not begun yet is cancelled.

    Raises `SweepError` if the executor dies, takes nothing, or has workers that cannot load the
    study.
    """
    submitted = _Submitted(executor, _submission(work, executor), failed)
    try:
        yield from submitted.results(tasks, AHEAD)
        for task in submitted.suspects if not failed.is_set() else ():
            yield from submitted.results(iter([task]), 1, alone=True)
    finally:
        submitted.cancel()


@contextmanager
def dask_executor(scheduler: Any) -> Iterator[Executor]:
    """The executor of a Dask client, or of the client of an address, closed at the end."""
    Client = optional("distributed", "dask", "a sweep on a cluster").Client
    if isinstance(scheduler, Client):
        if scheduler.asynchronous:
            raise ShapeError(
                "scheduler is an asynchronous client, expected a plain one or an address",
                name="scheduler",
            )
        yield scheduler.get_executor(pure=False)
        return
    if not isinstance(scheduler, str):
        raise ShapeError(
            f"scheduler is {scheduler!r}, expected the address of a Dask scheduler, such as "
            "'tcp://127.0.0.1:8786', or a distributed.Client",
            name="scheduler",
            given=scheduler,
        )
    try:
        client = Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SweepError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
    with client:
        yield client.get_executor(pure=False)


class _Submitted:
    """Tasks that have been submitted to an executor.

    Dask gives up all tasks that were on workers that died several times, though one of them killed
    the others' workers: the ``suspects`` are tried again, one at a time.
    """

    def __init__(
        self,
        executor: Executor,
        submission: Callable[[StudyCall], tuple[Any, ...]],
        failed: Event,
    ) -> None:
        self.suspects: list[StudyCall] = []
        self._executor, self._submission, self._failed = executor, submission, failed
        self._futures: dict[Future[Any], StudyCall] = {}
        self._finished: SimpleQueue[Future[Any]] = SimpleQueue()
        self._dropped: Counter[int] = Counter()

    def results(self, tasks: Iterator[StudyCall], room: int, alone: bool = False) -> Iterator[Done]:
        """Yield rows as they are done, with at most ``room`` tasks submitted at a time."""
        for task in islice(tasks, room):
            self._submit(task)
        while self._futures:
            future = self._next()
            task = self._futures.pop(future)
            try:
                done = _rows(future)
            except CancelledError:
                if not self._failed.is_set():
                    self._count_drop(task)
                    self._submit(task)
                continue
            except _WorkerLostError as error:
                if alone:
                    message = f"the workers died of it ({error})"
                    yield [(row, RowResult({}, message, lost=True)) for row in task.rows]
                else:
                    self.suspects.append(task)
            else:
                yield done
            if self._failed.is_set():
                self.cancel()
            for task in islice(tasks, 1):
                self._submit(task)

    def _next(self) -> Future[Any]:
        """Wait for a result; what is asked of a client of Dask while it closes never ends."""
        while True:
            try:
                return self._finished.get(timeout=PATIENCE)
            except Empty:
                client = getattr(self._executor, "_client", None)
                if getattr(client, "status", "") in ("closing", "closed"):
                    raise SweepError(f"the executor's scheduler has gone; {RESUME}") from None

    def cancel(self) -> None:
        """Cancel all tasks."""
        for future in [*self._futures]:
            future.cancel()

    def _submit(self, task: StudyCall) -> None:
        try:
            future = self._executor.submit(*self._submission(task))
        except BrokenExecutor as error:
            raise _death(error) from error
        except Exception as error:
            message = f"the executor takes no rows ({type(error).__name__}: {error}); {RESUME}"
            raise SweepError(message) from error
        self._futures[future] = task
        future.add_done_callback(self._finished.put)

    def _count_drop(self, task: StudyCall) -> None:
        """Count a result that was lost with its worker, or with the executor."""
        self._dropped[task.rows.start] += 1
        if self._dropped[task.rows.start] > DROPS:
            raise SweepError(f"the executor cancels what it was asked for; {RESUME}")


class _WorkerLostError(Exception):
    """The workers of a task have died, and others go on."""


def _rows(future: Future[Any]) -> Done:
    """The rows of a task, whose errors are the executor's: those of a study are outcomes."""
    problem = ""
    try:
        done = future.result()
    except CancelledError:
        raise
    except BrokenExecutor as error:
        raise _death(error) from error
    except Exception as error:
        dask = sys.modules.get("distributed")
        if dask is not None and isinstance(error, dask.KilledWorker):
            raise _WorkerLostError(str(error)) from error
        problem = f"{type(error).__name__}: {error}"
    else:
        problem = done if isinstance(done, str) else ""
    if problem:
        raise SweepError(
            f"a worker of the executor cannot compute the study ({problem}): workers need robodyn "
            "and the modules that the study comes from, in the versions that are here"
        )
    return done  # type: ignore[no-any-return]


def _death(error: BrokenExecutor) -> SweepError:
    said = f"{type(error).__name__}: {error}".splitlines()[0]
    return SweepError(f"the executor has died ({said}), perhaps of a row; {RESUME}")


def _submission(work: StudyRunner, executor: Executor) -> Callable[[StudyCall], tuple[Any, ...]]:
    """A function from a task to what is submitted for it: a function and its arguments."""
    if isinstance(executor, ThreadPoolExecutor):  # nothing is sent; each has the caller's context
        within = for_threads(work)
        return lambda task: (copy_context().run, within, task)
    payload = _pickled(work, "the study")
    return lambda task: (_compute, payload, _pickled(task, "a value"))


def _pickled(value: Any, what: str) -> bytes:
    """Pickled by cloudpickle, which takes any function; without it, functions by their names."""
    try:
        from cloudpickle import dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        return dumps(value)  # type: ignore[no-any-return]
    except Exception as error:
        raise SweepError(
            f"{what} cannot be sent to the workers of the executor ({error}): define functions "
            "(and laws of forces) at the top level of a module, or install cloudpickle, which "
            "sends any function; locks, files and connections stay here in any case, and a "
            "ThreadPoolExecutor takes everything"
        ) from error


def _compute(payload: bytes, task: bytes) -> Done | str:
    """Compute a task, on a worker; a text says why it cannot be loaded there."""
    try:
        work, call = _loaded(payload), pickle.loads(task)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return work(call)


@functools.lru_cache(maxsize=4)
def _loaded(payload: bytes) -> StudyRunner:
    return pickle.loads(payload)  # type: ignore[no-any-return]
