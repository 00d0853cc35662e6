"""What all controllers of a motion remembered, at its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.control.state_log import Log
from robodyn.simulation.control.stateful import chain

__all__ = ["Memories", "joined_memories"]


class Memories:
    """What all controllers of a motion remember, by name.

    Where several of one motion have the same name for it, those that others hold get a number:
    ``"filtered"``, ``"filtered 2"``.
    """

    def __init__(self) -> None:
        self._logs: dict[str, list[tuple[Log, str]]] = {}
        self._known: list[Log] = []

    def watch(self, controller: Any) -> None:
        """Add a controller, with those that it holds; what is known already stays."""
        used = set[str]()
        for found in chain(controller):
            for name in found.log.names:
                key, k = name, 1
                while key in used:
                    k += 1
                    key = f"{name} {k}"
                used.add(key)
                if found.log not in self._known:
                    self._logs.setdefault(key, []).append((found.log, name))
            if found.log not in self._known:
                self._known.append(found.log)

    def add(self, name: str, t: FloatArray, values: FloatArray) -> None:
        """Add what was remembered under a name at some instants."""
        log = Log.known(name, t, values)
        self._known.append(log)
        self._logs.setdefault(name, []).append((log, name))

    def at(self, t: FloatArray, batch: tuple[int, ...]) -> dict[str, FloatArray]:
        """What was remembered at some instants, shape (n, ..., m); NaN where nothing was.

        Parameters
        ----------
        t : ndarray, shape (n,) [s]
        batch : tuple of int
            Leading axes of a state.
        """
        found: dict[str, FloatArray] = {}
        for key, logs in self._logs.items():
            for log, name in logs:
                if log.empty:
                    continue
                shape, own, k = (len(t), *log.shape(name)), key, 1
                while own in found and found[own].shape != shape:  # of another controller, later
                    k += 1
                    own = f"{key} {k}"
                if own not in found:
                    found[own] = np.full(shape, np.nan)
                log.write(name, t, found[own])
        return {key: x.reshape(len(t), *batch, x.shape[-1]) for key, x in found.items()}

    def forget(self, t: float) -> None:
        """Keep nothing but what may be asked for from ``t`` [s] on."""
        for log in self._known:
            log.forget(t)


def joined_memories(
    parts: Sequence[Mapping[str, FloatArray]], lengths: Sequence[int]
) -> dict[str, FloatArray]:
    """Memories of the phases of a motion, one after the other; NaN where there are none."""
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
