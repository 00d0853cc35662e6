"""`sweep`: call a study with many sets of values."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from itertools import takewhile
from threading import Event
from typing import Any

from robodyn.arguments import checked_arguments
from robodyn.arrays import mismatch
from robodyn.caller import warn
from robodyn.errors import SettingsError, ShapeError, SweepError, SweepWarning
from robodyn.files import as_path
from robodyn.literals import FailedRows
from robodyn.progress import Progress, reporter
from robodyn.studies.sweep.executors import by_executor, dask_executor
from robodyn.studies.sweep.grid import Grid, grid_of
from robodyn.studies.sweep.identity import identity
from robodyn.studies.sweep.rows import (
    Done,
    RowResult,
    Study,
    StudyCall,
    StudyRunner,
    share_of,
    tasks_of,
)
from robodyn.studies.sweep.store import Store, StoredSweep, storing
from robodyn.studies.sweep.table import SweepTable, table_of
from robodyn.studies.sweep.workers import by_processes, by_threads


@checked_arguments
def sweep(
    study: Study,
    values: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    product: bool = True,
    processes: int | None = None,
    scheduler: Any = None,
    executor: Any = None,
    rows: tuple[int, int] | None = None,
    path: str | os.PathLike[str] | None = None,
    batch: int | None = None,
    seed: int | None = None,
    errors: FailedRows = "keep",
    progress: Progress | bool | None = None,
) -> SweepTable:
    """Call a study with many sets of values.

    The numbers are the same whoever computes them, in whatever order, and however often a sweep
    was interrupted.

    Parameters
    ----------
    study : callable
        ``study(**values)`` returns a number, an array, a mapping of name to these (text will do as
        well), or a `Trajectory`, of which the last state, the largest torques, the last energy and
        the largest gap of loops are kept.
    values : mapping, or sequence of mappings
        Mapping of the study's arguments to their values, an array or list each; the rows of an
        array of several axes are values. Other things, such as robots, have names:
        ``{"robot": {"light": ..., "heavy": ...}}``. The study is called with every combination, the
        last argument fastest. A list of mappings: with each of them.
    product : bool
        ``False``: not with every combination, but with the first value of every argument, then with
        the second ones: a table of samples.
    processes : int, optional
        Compute in so many worker processes of this machine: for studies that spend their time in
        Python. They import the study by its name. What a dying worker leaves undone is done by
        another one; a row that two workers die of fails. Default: threads of this process
        (`robodyn.set_num_threads`), which take any function; compiled code runs in them at once.
    scheduler : str or distributed.Client, optional
        Compute on a Dask cluster (extra ``dask``): the address of its scheduler, or a client.
    executor : concurrent.futures.Executor, optional
        Compute by it: one of Python's pools, ``get_executor()`` of a Dask client, those of loky and
        ``mpi4py``. It is left open. Workers in other processes import robodyn and the modules of
        the study; where cloudpickle is installed (Dask and loky bring it) they take any function.
        If it dies, the sweep ends with a `SweepError`; Dask alone replaces its workers.
    rows : (int, int), optional
        ``(k, n)``: compute only the k-th of n shares, k from 0 to n - 1, for job arrays: every
        n-th call of the study, from the k-th on. Other rows are not computed. With a ``path`` for
        each share, `SweepTable.merge` puts them together.
    path : path, optional
        A file that rows are added to as they are done. Where it exists, the sweep goes on: rows
        that it holds are not computed again, failed ones neither, but those that a worker died of
        are. A file of another study, other values, seed, batch or versions is refused.
    batch : int, optional
        The study takes so many rows at once: arrays of shape (n, ...), lists of objects, and
        returns arrays whose first axis is over rows, as `robodyn.rollout` and the methods of a
        robot do, which compute rows side by side in SIMD. The last batch may be smaller. If a batch
        fails, its rows are computed one by one, as batches of one.
    seed : int, optional
        The study is called with ``rng`` as well, a `numpy.random.Generator` made of
        ``SeedSequence(seed).spawn(n)[k]`` in row k; in a batch, a list of them.
    errors : {"keep", "raise"}
        What becomes of a row whose study raises. ``"keep"``: it is stored with the message, the
        others are computed, and a `robodyn.errors.SweepWarning` says how many failed. ``"raise"``:
        the sweep stops with a `SweepError` of the first such row.
    progress : callable or bool, optional
        Called with the finished part, 0 to 1. ``True``: a bar on standard error, if that is a
        terminal.

    Returns
    -------
    table : SweepTable

    Raises
    ------
    ShapeError
        For values and numbers that make no sense, and a study that does not take these values.
    UnknownNameError, SettingsError
        For another way to treat errors, and two ways to compute at once.
    SweepError
        If the file holds another sweep, if workers cannot be given the study, if the executor dies
        or the scheduler goes away, and as ``errors`` says; ``.table`` is what there is then.
    MissingFileError, FileError
        If the file cannot be written.

    Examples
    --------
    >>> import robodyn as rd
    >>> table = rd.sweep(lambda mass, height: 9.81 * mass * height,
    ...                  {"mass": [1.0, 2.0], "height": [0.5, 1.0, 1.5]})
    >>> table["value"].shape
    (2, 3)
    >>> float(table.sel(mass=2.0, height=0.5)["value"])
    9.81
    """
    grid = grid_of(values, product)
    _check(study, grid, seed)
    for name, count in (("batch", batch), ("processes", processes)):
        if count is not None and count < 1:
            raise ShapeError(f"{name} is {count!r}, expected an integer from 1 on", name=name)
    _check_way(processes, scheduler, executor)
    share = share_of(len(grid), batch, rows)
    report = reporter(progress)
    work = StudyRunner(study, frozenset(axis.name for axis in grid.axes), batch is not None, seed)
    wanted = len(share)
    with _opened(path, study, grid, seed, batch) as store:
        outcomes: dict[int, RowResult] = {}
        failed = Event()  # once it is set, no other row is begun

        def add(done: Mapping[int, RowResult]) -> None:
            outcomes.update(done)
            if errors == "raise" and any(outcome.error for outcome in done.values()):
                failed.set()
            report(len(outcomes) / wanted if wanted else 1.0)

        def table() -> SweepTable:
            return table_of(StoredSweep(grid.shape, grid.dims, grid.coords, outcomes, {}))

        add({k: row for k, row in (store.outcomes() if store else {}).items() if k in share})
        tasks = takewhile(lambda _: not failed.is_set(), tasks_of(grid, share, batch, {*outcomes}))
        try:
            for done in _computed(work, tasks, processes, scheduler, executor, failed):
                if store:
                    store.add(done)
                add(dict(done))
        except SweepError as error:
            error.table = table()
            raise
    _report_failures(computed := table(), wanted, errors)
    return computed


def _check_way(processes: int | None, scheduler: Any, executor: Any) -> None:
    """Refuse two ways to compute at once, and what is no executor."""
    ways = {"processes": processes, "scheduler": scheduler, "executor": executor}
    given = [name for name, way in ways.items() if way is not None]
    if len(given) > 1:
        raise SettingsError(f"give one way to compute rows, not {' and '.join(given)}")
    if executor is None or isinstance(executor, Executor):
        return
    advice = (
        "; of a Dask client: client.get_executor()" if hasattr(executor, "get_executor") else ""
    )
    raise mismatch(
        "executor",
        executor,
        f"an object of concurrent.futures.Executor, such as ProcessPoolExecutor(4){advice}",
    )


def _computed(
    work: StudyRunner,
    tasks: Iterator[StudyCall],
    processes: int | None,
    scheduler: Any,
    executor: Executor | None,
    failed: Event,
) -> Iterator[Done]:
    if processes is not None:
        yield from by_processes(work, tasks, processes)
    elif executor is None and scheduler is None:
        yield from by_threads(work, tasks)
    else:
        with nullcontext(executor) if executor else dask_executor(scheduler) as chosen:
            yield from by_executor(work, tasks, chosen, failed)


def _opened(
    path: Any, study: Study, grid: Grid, seed: int | None, batch: int | None
) -> AbstractContextManager[Store | None]:
    if path is None:
        return nullcontext()
    own = identity(study, grid, seed, batch)
    return storing(as_path("path", path), grid.shape, grid.dims, grid.coords, own)


def _report_failures(table: SweepTable, wanted: int, errors: str) -> None:
    """Warn that rows failed."""
    if not table.failures:
        return
    row, why = next(iter(table.failures.items()))
    values = table.rows[row]
    given = ", ".join(f"{name} = {values[name]}" for name in table.coords)
    message = f"row {row} ({given}) failed: {why}"
    if errors == "raise":
        raise SweepError(message, table=table, row=row)
    count = f"{len(table.failures)} of {wanted} rows"
    warn(SweepWarning(f"{count} failed; {message}"))


def _check(study: Study, grid: Grid, seed: int | None) -> None:
    """Refuse a study that cannot be called with these values."""
    names = [axis.name for axis in grid.axes]
    if seed is not None:
        if seed < 0:
            raise ShapeError(f"seed is {seed!r}, expected an integer from 0 on", name="seed")
        if "rng" in names:
            raise ShapeError("with a seed, no value may be called 'rng'", name="values")
        names.append("rng")
    try:
        signature = inspect.signature(study)
    except (TypeError, ValueError):  # of a builtin: it says itself what it does not take
        return
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        raise ShapeError(
            f"the study cannot be called with {', '.join(names)}: {error}; it takes {signature}",
            name="study",
            given=names,
            expected=signature,
        ) from None
