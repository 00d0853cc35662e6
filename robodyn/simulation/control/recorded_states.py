"""The recorded states of all controllers of a motion, at its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError


class StateLog:
    """Recorded entries of a state after each sample.

    entries: Names under which parts of the state are recorded, and the path to each within it.
    """

    def __init__(self, entries: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        self._entries = tuple(entries)
        self._times: list[FloatArray] = []
        self._values: dict[str, list[FloatArray]] = {name: [] for name, _ in entries}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded entries."""
        return tuple(name for name, _ in self._entries)

    def note(
        self,
        t: float,
        state: Mapping[str, Any],
        batch: tuple[int, ...],
        widths: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Add a sample at ``t`` [s].

        batch: Leading axes.
        widths: Size of an entry in the state of one robot by name, where that is known.
        Raises ShapeError: If an entry is not an array of numbers, or has another shape than before.
        """
        seen = {}
        for name, path in self._entries:
            x = _entry(state, path, batch, widths.get(name, 0))
            before = self.shape(name) if self._times else (*batch, *x.shape[-1:])
            if x.shape != before:
                raise ShapeError(
                    f"a controller has {path[-1]!r} in its attribute recorded, and its state at "
                    f"t = {t:.6g} s is {dict(state)!r}, expected numbers of shape {before} under "
                    "that name",
                    name="state",
                    given=state,
                    expected=before,
                )
            seen[name] = x[None]
        if seen:
            self.extend(np.array([t]), seen)

    def extend(self, t: FloatArray, values: Mapping[str, FloatArray]) -> None:
        """Add some samples at ``t`` [s], shape (k,): arrays by name, shape (k, ..., m)."""
        if len(t):
            self._times.append(t)
            for name, x in values.items():
                self._values[name].append(x.copy())

    def extend_rows(
        self, t: FloatArray, rows: FloatArray, places: Mapping[str, slice], batch: tuple[int, ...]
    ) -> None:
        """Add some samples at ``t`` [s], shape (k,): rows of numbers, shape (k, n, size).

        rows (k, n, size): Of n motions.
        places: Places of the recorded entries in a row.
        batch: Leading axes of a state.
        """
        if places:
            parts = ((name, rows[..., place]) for name, place in places.items())
            self.extend(t, {name: x.reshape(len(t), *batch, x.shape[-1]) for name, x in parts})

    @property
    def empty(self) -> bool:
        """Whether there was no sample."""
        return not self._times

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of the values recorded under a name, without the axis of samples."""
        return self._values[name][0].shape[1:]

    def write(self, name: str, t: FloatArray, into: FloatArray) -> None:
        """Write what was recorded at the latest sample until each instant; leave earlier ones."""
        times, values = np.concatenate(self._times), np.concatenate(self._values[name])
        if np.array_equal(times, t):
            into[...] = values
            return
        at = np.searchsorted(times, t, side="right") - 1
        into[at >= 0] = values[at[at >= 0]]

    def forget(self, t: float) -> None:
        """Remove what is not needed for instants from ``t`` [s] on."""
        if self._times:
            times = np.concatenate(self._times)
            first = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
            self._times = [times[first:]]
            for name, parts in self._values.items():
                self._values[name] = [np.concatenate(parts)[first:]]


def _entry(
    state: Mapping[str, Any], path: tuple[str, ...], batch: tuple[int, ...], width: int
) -> FloatArray:
    """An entry of a state, broadcast to shape (..., m); of another shape where it does not fit.

    The state may have one number for all motions or one for each, without the last axis; and m
    numbers for all motions, if m is known.

    width: m; 0: not known.
    """
    found: Any = state
    try:
        for key in path:
            found = found[key]
        x = np.asarray(found, float)
    except (KeyError, TypeError, ValueError):
        return np.empty((0,) * (len(batch) + 2))  # of no shape that could be
    if width > 1 and x.shape == (width,):
        x = np.broadcast_to(x, (*batch, width))
    elif x.shape in ((), batch):
        x = np.broadcast_to(x[..., None], (*batch, 1))
    return x


class RecordedStates:
    """The recorded states of all controllers of a motion, by name."""

    def __init__(self) -> None:
        self._logs: dict[str, list[StateLog]] = {}
        self._all: list[StateLog] = []

    def watch(self, log: StateLog) -> None:
        """Add the log of a controller, unless it was added before."""
        if log not in self._all:
            self._all.append(log)
            for name in log.names:
                self._logs.setdefault(name, []).append(log)

    def add(self, name: str, t: FloatArray, values: FloatArray) -> None:
        """Add what was recorded under a name at some instants."""
        log = StateLog([(name, (name,))])
        log.extend(t, {name: values})
        self.watch(log)

    def at(self, t: FloatArray, batch: tuple[int, ...]) -> dict[str, FloatArray]:
        """Recorded states at some instants, shape (n, ..., m); NaN where nothing was recorded.

        batch: Leading axes of a state.
        """
        found: dict[str, FloatArray] = {}
        for key, logs in self._logs.items():
            for log in logs:
                if log.empty:
                    continue
                shape, own, k = (len(t), *log.shape(key)), key, 1
                while own in found and found[own].shape != shape:  # of another controller, later
                    k += 1
                    own = f"{key} {k}"
                if own not in found:
                    found[own] = np.full(shape, np.nan)
                log.write(key, t, found[own])
        return {key: x.reshape(len(t), *batch, x.shape[-1]) for key, x in found.items()}

    def forget(self, t: float) -> None:
        """Remove what is not needed for instants from ``t`` [s] on."""
        for log in self._all:
            log.forget(t)


def joined_states(
    parts: Sequence[Mapping[str, FloatArray]], lengths: Sequence[int]
) -> dict[str, FloatArray]:
    """Recorded states of the phases of a motion, one after the other; NaN where there are none."""
    shapes = {name: x.shape[1:] for part in reversed(parts) for name, x in part.items()}
    found = {}
    for name, shape in shapes.items():
        own = [part.get(name) for part in parts]
        rows = [
            x if x is not None and x.shape[1:] == shape else np.full((n, *shape), np.nan)
            for x, n in zip(own, lengths, strict=True)
        ]
        found[name] = np.concatenate(rows)
    return found
