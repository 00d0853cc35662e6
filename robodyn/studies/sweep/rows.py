"""Computation of rows, one or a batch at a time, for threads, processes and clusters alike."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import is_masked
from robodyn.caller import is_user_code
from robodyn.errors import ShapeError
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.studies.sweep.grid import Grid

#: Kinds of numpy arrays that results may have: bool, real and complex numbers, text.
RESULTS = "biufcU"


@dataclass(frozen=True, eq=False)
class RowResult:
    """Results of a row, or the reason why it failed.

    A row that failed has the message of the error, and no results. It is ``lost`` if the process
    that computed it died, and is then worth another try.
    """

    results: Mapping[str, Array]
    error: str = ""
    lost: bool = False


def results_of(returned: Any, taken: frozenset[str], count: int | None = None) -> dict[str, Array]:
    """Convert what a study returned to named arrays.

    returned: A number or array is called ``"value"``; of a trajectory, a summary is taken.
    taken: Names of values, which results must not have.
    count, optional: Rows that the first axis of every array is over.
    """
    if isinstance(returned, Trajectory):
        returned = _summary(returned)
    named = returned if isinstance(returned, Mapping) else {"value": returned}
    results = {}
    for name, value in named.items():
        if not isinstance(name, str) or name in taken:
            raise ShapeError(
                f"the study returned a result of the name {name!r}, expected a text that is not "
                "the name of a value",
                name="study",
                given=name,
            )
        results[name] = _array(name, value, count)
    return results


def _array(name: str, value: Any, count: int | None) -> Array:
    try:
        array = np.array(value, order="C")
    except ValueError:  # ragged lists
        array = np.array(None)
    if array.dtype.kind not in RESULTS or is_masked(value):
        raise ShapeError(
            f"the study returned {type(value).__name__} for {name!r}, expected numbers or text: "
            "one, an array, a mapping of name to these, or a Trajectory",
            name="study",
            given=type(value).__name__,
        )
    if count is not None and array.shape[:1] != (count,):
        raise ShapeError(
            f"the study returned shape {array.shape} for {name!r}, expected ({count}, ...): one "
            "for each row of the batch",
            name="study",
            given=array.shape,
            expected=(count,),
        )
    return array


def _summary(run: Trajectory) -> dict[str, Any]:
    """Last state, largest torques, last energy and largest loop gap of each motion."""
    return {
        "t": np.broadcast_to(run.t[-1], run.q.shape[1:-1]),
        "q": run.q[-1],
        "v": run.v[-1],
        "peak_tau": np.abs(run.tau).max(axis=0),
        "energy": run.energy[-1],
        "loop_residual": run.loop_residual.max(axis=0),
    }


Study = Callable[..., Any]

#: Row numbers and their outcomes.
Done = list[tuple[int, RowResult]]


@dataclass(frozen=True)
class StudyCall:
    """Rows that one call of the study computes, and the arguments of this call."""

    rows: range
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Share:
    """The rows of every n-th call of the study, each of which computes ``size`` rows.

    Calls begin at multiples of this size, whatever is done already and whoever computes them, so
    that a row is always computed together with the same others.
    """

    count: int
    size: int
    k: int
    n: int

    @property
    def calls(self) -> Iterator[range]:
        """The rows of each call, in order."""
        for first in range(0, self.count, self.size)[self.k :: self.n]:
            yield range(first, min(first + self.size, self.count))

    def __len__(self) -> int:
        return sum(map(len, self.calls))

    def __contains__(self, row: int) -> bool:
        return row // self.size % self.n == self.k


def share_of(count: int, batch: int | None, rows: tuple[int, int] | None) -> Share:
    """The share that the argument ``rows`` of a sweep asks for; ``None``: all rows."""
    try:
        k, n = map(index, (0, 1) if rows is None else rows)
    except (TypeError, ValueError):
        k, n = 0, 0
    if not 0 <= k < n:
        raise ShapeError(
            f"rows is {rows!r}, expected (k, n), integers: the k-th of n shares, counted from 0"
            + (f", so that the last is ({n - 1}, {n})" if k >= n > 0 else ""),
            name="rows",
            given=rows,
        )
    return Share(count, batch or 1, k, n)


def tasks_of(
    grid: Grid, share: Share, batch: int | None, done: Collection[int]
) -> Iterator[StudyCall]:
    """Yield the tasks that remain, in order."""
    for rows in share.calls:
        if not all(row in done for row in rows):
            yield StudyCall(rows, grid.stacked(rows) if batch else grid.arguments(rows[0]))


@dataclass(frozen=True)
class StudyRunner:
    """A study and the settings of all its calls: ``done = work(task)``.

    ``names`` are those of the values. A ``batched`` study takes many rows at once. With a seed, row
    k gets random numbers of its own, ``SeedSequence(seed).spawn(k + 1)[k]``.
    """

    study: Study
    names: frozenset[str]
    batched: bool
    seed: int | None

    def __call__(self, task: StudyCall) -> Done:
        """Compute rows. An error that the study raises becomes their outcome."""
        if not self.batched:
            return [(task.rows[0], self._row(task))]
        try:
            return self._batch(task.rows, task.arguments)
        except (Exception, SystemExit) as error:
            if len(task.rows) == 1:
                return [(task.rows[0], RowResult({}, _description(error)))]
        return [
            done for part in _one_by_one(task) for done in self(part)
        ]  # find the rows that fail

    def _row(self, task: StudyCall) -> RowResult:
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


def _one_by_one(task: StudyCall) -> Iterator[StudyCall]:
    """The rows of a batch as batches of one."""
    for k, row in enumerate(task.rows):
        yield StudyCall(
            range(row, row + 1), {name: x[k : k + 1] for name, x in task.arguments.items()}
        )


def _description(error: BaseException) -> str:
    """The text of an error, with the place in the user's code that raised it, or led to it."""
    text = f"{type(error).__name__}: {error}"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_user_code(frame):
            code = frame.f_code
            return f"{text} ({Path(code.co_filename).name}, line {line}, {code.co_name})"
    return text
