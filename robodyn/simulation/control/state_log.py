"""What a controller with a memory remembered after each look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError

__all__ = ["Log", "Memory"]

#: What a controller remembers, by name.
Memory = Mapping[str, Any]


class Log:
    """What was remembered after each look.

    Parameters
    ----------
    names : tuple of str
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names, self._count = names, 0
        self._times = np.empty(16)
        self._values: dict[str, FloatArray] = {}

    def note(self, t: float, memory: Memory, batch: tuple[int, ...]) -> None:
        """Add a look.

        Raises
        ------
        ShapeError
            If there is no number, or one of another shape than before.
        """
        k = self._count
        seen = {name: self._remembered(name, t, memory, batch) for name in self.names}
        if not self._values:
            self._values = {name: np.empty((16, *x.shape)) for name, x in seen.items()}
        if k == len(self._times):
            self._make_room()
        self._times[k] = t
        for name, x in self._values.items():
            x[k] = seen[name]
        self._count += 1

    def extend(self, t: FloatArray, values: Mapping[str, FloatArray]) -> None:
        """Add some looks at ``t`` [s], shape (k,): arrays by name, shape (k, ..., m)."""
        k, stop = self._count, self._count + len(t)
        if not self._values:
            shapes = {name: x.shape[1:] for name, x in values.items()}
            self._values = {name: np.empty((len(self._times), *x)) for name, x in shapes.items()}
        while stop > len(self._times):
            self._make_room()
        self._times[k:stop] = t
        for name, x in values.items():
            self._values[name][k:stop] = x
        self._count = stop

    def _make_room(self) -> None:
        self._times = np.concatenate([self._times, self._times])
        self._values = {name: np.concatenate([x, x]) for name, x in self._values.items()}

    def _remembered(
        self, name: str, t: float, memory: Memory, batch: tuple[int, ...]
    ) -> FloatArray:
        """What stands in a memory under a name, shape (..., m).

        One number may be given alone, one for each motion or the same for all.
        """
        try:
            x = np.asarray(memory[name], float)
        except (KeyError, TypeError, ValueError):
            x = np.empty((0,) * (len(batch) + 2))  # of no shape that could be
        if x.shape in ((), batch):
            x = np.broadcast_to(x[..., None], (*batch, 1))
        before = self._values[name].shape[1:] if self._values else (*batch, *x.shape[-1:])
        if x.shape != before:
            raise ShapeError(
                f"a controller says that it remembers {name!r}, and its memory at t = {t:.6g} s is "
                f"{dict(memory)!r}, expected numbers of shape {before} there",
                name="memory",
                given=memory,
                expected=before,
            )
        return x

    @classmethod
    def known(cls, name: str, t: FloatArray, values: FloatArray) -> Log:
        """What was remembered under a name at some instants."""
        log = cls((name,))
        log._times, log._values, log._count = t, {name: values}, len(t)
        return log

    @property
    def empty(self) -> bool:
        """Whether it never looked."""
        return not self._count

    def shape(self, name: str) -> tuple[int, ...]:
        """Of what is remembered under a name."""
        return self._values[name].shape[1:]

    def write(self, name: str, t: FloatArray, into: FloatArray) -> None:
        """Write what was remembered after the last look until each instant; leave earlier ones."""
        at = np.searchsorted(self._times[: self._count], t, side="right") - 1
        into[at >= 0] = self._values[name][at[at >= 0]]

    def forget(self, t: float) -> None:
        """Keep nothing but what may be asked for from ``t`` [s] on."""
        first = max(int(np.searchsorted(self._times[: self._count], t, side="right")) - 1, 0)
        kept = self._count - first
        self._times[:kept] = self._times[first : self._count].copy()
        for x in self._values.values():
            x[:kept] = x[first : self._count].copy()
        self._count = kept
