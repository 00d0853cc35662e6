"""The recorded states of all controllers of a motion, at its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.control.state_log import StateLog

__all__ = ["RecordedStates", "joined_states"]


class RecordedStates:
    """The recorded states of all controllers of a motion, by name."""

    def __init__(self) -> None:
        self._logs: dict[str, list[StateLog]] = {}
        self._all: list[StateLog] = []

    def watch(self, controller: RunningController | None) -> None:
        """Add a controller whose states are recorded, unless it was added before."""
        if controller is not None and controller.log not in self._all:
            self._take(controller.log)

    def _take(self, log: StateLog) -> None:
        self._all.append(log)
        for name in log.names:
            self._logs.setdefault(name, []).append(log)

    def add(self, name: str, t: FloatArray, values: FloatArray) -> None:
        """Add what was recorded under a name at some instants."""
        log = StateLog([(name, (name,))])
        log.extend(t, {name: values})
        self._take(log)

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
