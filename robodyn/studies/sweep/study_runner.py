"""Computation of single rows and batches of rows, for threads, processes and clusters alike."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.caller import is_user_code
from robodyn.studies.sweep.grid import Grid
from robodyn.studies.sweep.row_result import RowResult, results_of

__all__ = ["Done", "Study", "StudyRunner", "Task", "tasks_of"]

Study = Callable[..., Any]

#: Row numbers and their outcomes.
Done = list[tuple[int, RowResult]]


@dataclass(frozen=True)
class Task:
    """Rows that one call of the study computes, and the arguments of this call."""

    rows: range
    arguments: dict[str, Any]


def tasks_of(grid: Grid, batch: int | None, done: Collection[int]) -> Iterator[Task]:
    """Yield the tasks that remain, in order.

    Batches begin at multiples of their size, whatever is done already, so that a row is always
    computed together with the same others.
    """
    for first in range(0, len(grid), batch or 1):
        rows = range(first, min(first + (batch or 1), len(grid)))
        if not all(row in done for row in rows):
            yield Task(rows, grid.stacked(rows) if batch else grid.arguments(first))


@dataclass(frozen=True)
class StudyRunner:
    """A study and the settings of all its calls: ``done = work(task)``.

    Attributes
    ----------
    study : callable
    names : frozenset of str
        Of the values.
    batched : bool
        The study takes many rows at once.
    seed : int or None
        Row k gets random numbers of its own, ``SeedSequence(seed).spawn(k + 1)[k]``.
    """

    study: Study
    names: frozenset[str]
    batched: bool
    seed: int | None

    def __call__(self, task: Task) -> Done:
        """Compute rows. An error that the study raises becomes their outcome."""
        if not self.batched:
            return [(task.rows[0], self._row(task))]
        try:
            return self._batch(task.rows, task.arguments)
        except (Exception, SystemExit) as error:
            if len(task.rows) == 1:
                return [(task.rows[0], RowResult({}, _description(error)))]
        return [done for part in _single(task) for done in self(part)]  # find the rows that fail

    def _row(self, task: Task) -> RowResult:
        more = {} if self.seed is None else {"rng": self._rng(task.rows[0])}
        try:
            return RowResult(results_of(self.study(**task.arguments, **more), self.names))
        except (Exception, SystemExit) as error:
            return RowResult({}, _description(error))

    def _batch(self, rows: range, arguments: dict[str, Any]) -> Done:
        more = {} if self.seed is None else {"rng": [self._rng(row) for row in rows]}
        results = results_of(self.study(**arguments, **more), self.names, len(rows))
        return [
            (row, RowResult({name: np.array(value[k]) for name, value in results.items()}))
            for k, row in enumerate(rows)
        ]

    def _rng(self, row: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(row,)))


def _single(task: Task) -> Iterator[Task]:
    """The rows of a batch as batches of one."""
    for k, row in enumerate(task.rows):
        yield Task(range(row, row + 1), {name: x[k : k + 1] for name, x in task.arguments.items()})


def _description(error: BaseException) -> str:
    """The text of an error, with the place in the user's code that raised it, or led to it."""
    text = f"{type(error).__name__}: {error}"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_user_code(frame):
            code = frame.f_code
            return f"{text} ({Path(code.co_filename).name}, line {line}, {code.co_name})"
    return text
