"""Rows of a sweep computed by a Dask cluster (extra ``dask``)."""

from __future__ import annotations

import functools
import pickle
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
from typing import Any

from robodyn.errors import MissingExtraError, ShapeError, SweepError
from robodyn.studies.sweep.rows import Done, RowResult, StudyCall, StudyRunner

#: Tasks queued at the scheduler, per thread of a worker.
WAITING = 4

#: After how many lost results a task is given up.
DROPS = 10


def by_dask(work: StudyRunner, tasks: Iterator[StudyCall], scheduler: Any) -> Iterator[Done]:
    """Yield rows as they are done. Dask repeats the tasks of a worker that dies on another one.

    Raises `SweepError` if there is no such scheduler, if it goes away, or if workers cannot load
    the study.
    """
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "dask", "a sweep on a cluster") from None
    payload = cloudpickle.dumps(work)
    with _client(scheduler, distributed.Client) as client:
        submitted = _Submitted(client, payload)
        try:
            yield from submitted.results(tasks, WAITING * max(1, sum(_threads(client).values())))
            for task in submitted.suspects:
                yield from submitted.results(iter([task]), 1, alone=True)
        finally:
            submitted.cancel()


class _Submitted:
    """Tasks that have been submitted to a cluster.

    Dask gives up all tasks that were on workers that died several times, though one of them killed
    the others' workers: the ``suspects`` are tried again, one at a time.
    """

    def __init__(self, client: Any, payload: bytes) -> None:
        self.suspects: list[StudyCall] = []
        self._client, self._payload = client, payload
        self._futures: dict[Any, StudyCall] = {}
        self._dropped: Counter[int] = Counter()

    def results(self, tasks: Iterator[StudyCall], room: int, alone: bool = False) -> Iterator[Done]:
        """Yield rows as they are done, with at most ``room`` tasks submitted at a time."""
        from distributed import KilledWorker, as_completed

        finished = as_completed(loop=self._client.loop)
        finished.update(map(self._submit, islice(tasks, room)))
        while self._futures:
            future = next(finished)
            task = self._futures.pop(future)
            done: Done = []
            try:
                done = self._result(future)
            except CancelledError:
                self._count_drop(task)
                finished.add(self._submit(task))
                continue
            except KilledWorker as error:
                if alone:
                    message = f"the workers died of it ({error})"
                    done = [(row, RowResult({}, message, lost=True)) for row in task.rows]
                else:
                    self.suspects.append(task)
            if done:
                yield done
            finished.update(map(self._submit, islice(tasks, 1)))

    def cancel(self) -> None:
        """Cancel all tasks."""
        self._client.cancel(list(self._futures), force=True)

    def _submit(self, task: StudyCall) -> Any:
        import cloudpickle

        future = self._client.submit(_compute, self._payload, cloudpickle.dumps(task), pure=False)
        self._futures[future] = task
        return future

    def _result(self, future: Any) -> Done:
        from distributed import KilledWorker

        try:
            return future.result()  # type: ignore[no-any-return]
        except (KilledWorker, CancelledError):
            raise
        except Exception as error:
            raise SweepError(
                f"a Dask worker cannot compute the study ({type(error).__name__}: {error}): "
                "workers need robodyn and the modules that the study comes from, in the versions "
                "that are here"
            ) from error

    def _count_drop(self, task: StudyCall) -> None:
        """Count a result that was lost with its worker, or with the scheduler."""
        self._dropped[task.rows.start] += 1
        if self._dropped[task.rows.start] > DROPS or _threads(self._client) is None:
            raise SweepError(
                "the Dask scheduler drops what it was asked for; with path=, the same call goes on "
                "from what is stored"
            )


def _threads(client: Any) -> dict[str, int]:
    """Number of threads of each worker."""
    try:
        return dict(client.nthreads())
    except (OSError, RuntimeError, ValueError) as error:
        raise SweepError(
            f"the Dask scheduler has gone ({error}); with path=, the same call goes on from what "
            "is stored"
        ) from error


@contextmanager
def _client(scheduler: Any, kind: Any) -> Iterator[Any]:
    """The given client; for an address, a client that is closed at the end."""
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


def _compute(payload: bytes, task: bytes) -> Done:
    """Compute a task, on a worker; Dask looks for names of its own in what is not pickled."""
    return _loaded(payload)(pickle.loads(task))


@functools.lru_cache(maxsize=4)
def _loaded(payload: bytes) -> StudyRunner:
    return pickle.loads(payload)  # type: ignore[no-any-return]
