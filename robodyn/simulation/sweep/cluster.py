"""Rows computed by the workers of a Dask cluster (extra ``dask``)."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from robodyn.errors import MissingExtraError, ShapeError, SweepError
from robodyn.simulation.sweep.outcome import Outcome
from robodyn.simulation.sweep.work import Done, Task, Work

__all__ = ["by_dask"]

#: Tasks that wait at the scheduler, for each thread of a worker.
WAITING = 4


def by_dask(work: Work, tasks: Iterator[Task], scheduler: Any) -> Iterator[Done]:
    """Rows as they are done. Dask has what a dying worker leaves undone done by another one.

    Parameters
    ----------
    work : Work
    tasks : iterator of Task
    scheduler : str or distributed.Client

    Raises
    ------
    MissingExtraError
    SweepError
        If there is no such scheduler, if it goes away, or if workers cannot load the study.
    """
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "dask", "a sweep on a cluster") from None
    payload = cloudpickle.dumps(work)
    with _client(scheduler, distributed.Client) as client:
        room = WAITING * max(1, sum(client.nthreads().values()))
        running = {}
        finished = distributed.as_completed(loop=client.loop)

        def submit(some: Iterator[Task]) -> None:
            for task in some:
                future = client.submit(_compute, payload, cloudpickle.dumps(task), pure=False)
                running[future] = task
                finished.add(future)

        try:
            submit(islice(tasks, room))
            while running:
                future = next(finished)
                yield _result(future, running.pop(future), distributed.KilledWorker)
                submit(islice(tasks, 1))
        finally:
            client.cancel(list(running), force=True)


@contextmanager
def _client(scheduler: Any, kind: Any) -> Iterator[Any]:
    """A client as it is; one for the scheduler at an address, closed at the end."""
    if isinstance(scheduler, kind):
        if scheduler.asynchronous:
            raise ShapeError(
                "scheduler is an asynchronous client, expected a plain one or an address",
                name="scheduler",
            )
        yield scheduler
        return
    if not isinstance(scheduler, str):
        raise ShapeError(
            f"scheduler is {scheduler!r}, expected the address of a Dask scheduler, such as "
            "'tcp://127.0.0.1:8786', or a distributed.Client",
            name="scheduler",
            given=scheduler,
        )
    try:
        client = kind(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SweepError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
    with client:
        yield client


def _result(future: Any, task: Task, killed: type[Exception]) -> Done:
    """What became of a task."""
    if future.status == "finished":
        return future.result()  # type: ignore[no-any-return]
    error = future.exception() if future.status == "error" else None
    if isinstance(error, killed):
        told = f"the workers died of it ({error})"
        return [(row, Outcome({}, told, lost=True)) for row in task.rows]
    if error is None:
        raise SweepError(
            "the Dask scheduler has gone, or has dropped what it was asked for; with path=, the "
            "same call goes on from what is stored"
        )
    raise SweepError(
        f"a Dask worker cannot compute the study ({type(error).__name__}: {error}): workers need "
        "robodyn and the modules that the study comes from, in the versions that are here"
    ) from error


def _compute(payload: bytes, task: bytes) -> Done:
    """Compute a task, on a worker; Dask looks for names of its own in what is not pickled."""
    return _loaded(payload)(pickle.loads(task))


@functools.lru_cache(maxsize=4)
def _loaded(payload: bytes) -> Work:
    return pickle.loads(payload)  # type: ignore[no-any-return]
