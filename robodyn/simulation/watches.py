"""What is looked for within each step of a motion, and which of it happens first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robodyn.array_types import FloatArray
from robodyn.simulation.callbacks import event_value
from robodyn.simulation.events.event import Action, Event

__all__ = ["Sides", "Watch", "first_of", "watch_of"]

#: Values that are a part of what they change by within a step this small are zero but for rounding.
AT_ZERO = 1e-9

#: Part of a step [s] -> state there.
After = Callable[[float], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Watch:
    """An event as the loop sees it.

    Attributes
    ----------
    name : str
    value : callable
        (t, q, v) -> number; it happens where this reaches or crosses zero.
    actions : tuple of callable
    direction : {0, 1, -1}
    """

    name: str
    value: Callable[[float, FloatArray, FloatArray], float]
    actions: tuple[Action, ...]
    direction: int = 0


def watch_of(event: Event) -> Watch:
    """An event that a user gave."""
    when = event.when
    return Watch(
        event.name, lambda t, q, v: event_value(when, t, q, v), event.actions, event.direction
    )


class Sides:
    """On which side of zero the function of each watch is: 1, -1, or 0 where that has to be seen.

    Parameters
    ----------
    watches : sequence of Watch
    """

    def __init__(self) -> None:
        self._side: dict[Watch, int] = {}

    def __getitem__(self, watch: Watch) -> int:
        return self._side.get(watch, 0)

    def __contains__(self, watch: Watch) -> bool:
        return watch in self._side

    def __setitem__(self, watch: Watch, side: int) -> None:
        self._side[watch] = side
