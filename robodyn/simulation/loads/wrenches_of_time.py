"""Wrenches that are functions of time alone: they are asked once at an instant, beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.errors import ShapeError
from robodyn.motion.functions import TimeFunction


@dataclass(frozen=True, eq=False)
class WrenchesOfTime:
    """Wrenches of which the function takes the time alone.

    links: Links on which they act at any instant.
    """

    function: TimeFunction
    links: tuple[str, ...]

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> Any:
        """What the function returns."""
        return self.function(t)

    def at(self, t: FloatArray) -> dict[str, FloatArray]:
        """Wrenches at instants, shape (n,) [s]: arrays of shape (n, 6) [N, N m].

        Raises ShapeError: For what is no wrench, and for links on which none acts at instants
            between steps.
        """
        known: dict[float, list[FloatArray]] = {}
        for x in t.tolist():
            if x not in known:
                known[x] = self._row(x)
        rows = np.array([known[x] for x in t.tolist()]).reshape(len(t), len(self.links), 6)
        return {link: np.ascontiguousarray(rows[:, k]) for k, link in enumerate(self.links)}

    def _row(self, t: float) -> list[FloatArray]:
        given = _asked(self.function, t)
        for link in given:
            if link not in self.links:
                raise ShapeError(
                    f"a wrench acts on {link!r} at t = {t:.6g} s, and on other links between steps:"
                    " return zeros for it elsewhere",
                    name="wrenches",
                )
        return [given.get(link, _NONE) for link in self.links]


_NONE = np.zeros(6)


def wrenches_of_time(function: TimeFunction, times: FloatArray) -> WrenchesOfTime | None:
    """Wrenches at all times, of a function of time that is called beforehand; ``None`` if it fails.

    times (n,) [s]: Ends of steps.
    """
    links: dict[str, None] = {}
    try:
        for t in times.tolist():
            links |= dict.fromkeys(_asked(function, t))
    except Exception:  # of the user's function: motions that ask for it step by step say when
        return None
    return WrenchesOfTime(function, tuple(links))


def _asked(function: TimeFunction, t: float) -> Mapping[str, FloatArray]:
    """Copies of the wrenches at an instant."""
    given = function(t)
    if not isinstance(given, Mapping):
        raise _unfit("wrenches", t, type(given).__name__, "a mapping of link name to six numbers")
    found = {link: np.array(numbers(f"wrench:{link}", x), float) for link, x in given.items()}
    for link, x in found.items():
        if x.shape != (6,):
            raise _unfit(f"wrench:{link}", t, f"an array of shape {x.shape}", "shape (6,)")
    return found


def _unfit(name: str, t: float, given: str, expected: str) -> ShapeError:
    return ShapeError(
        f"{name} at t = {t:.6g} s: {given}, expected {expected} [N, N m]", name="wrenches"
    )
