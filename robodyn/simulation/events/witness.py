"""Events as the loop of a motion sees them: functions to look at, and instants to be at."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.simulation.control.callbacks import shown_briefly
from robodyn.simulation.events.detector import WitnessFunction
from robodyn.simulation.events.event import Event, EventFunction, State
from robodyn.tolerances import SAME_TIME

__all__ = ["event_value", "instants_of", "never", "watch_of"]


def never(t: float, q: FloatArray, v: FloatArray) -> float:
    """Of an event at an instant, which no function says."""
    return 1.0


def watch_of(event: Event, state: Callable[..., State]) -> WitnessFunction:
    """What a loop looks for; of an event at an instant, nothing.

    Parameters
    ----------
    event : Event
    state : callable
        (t, q, v) -> State, for functions of that.
    """
    when: Any = event.when
    value = never if isinstance(when, float) else functools.partial(event_value, when)
    if event.of_state:
        value = functools.partial(event_value, lambda t, q, v: when(state(t, q, v)))
    return WitnessFunction(
        event.name, value, event.direction, event.actions,
        already=event.already, of_state=event.of_state,
    )  # fmt: skip


def instants_of(events: Sequence[Event], times: FloatArray) -> list[tuple[float, Event]]:
    """When events at instants happen; those that are instants of the motion but for rounding are.

    Events at the same instant stay in order.
    """
    found = []
    for event in events:
        if isinstance(event.when, float):
            nearest = float(times[np.abs(times - event.when).argmin()])
            close = abs(nearest - event.when) <= SAME_TIME * max(float(times[-1]), 1e-300)
            found.append((nearest if close else event.when, event))
    return found


def event_value(function: EventFunction, t: float, q: FloatArray, v: FloatArray) -> float:
    """The number that the function of an event returns.

    Raises
    ------
    ShapeError
        If it returns anything else.
    """
    given = function(t, q.copy(), v.copy())
    try:
        value = float(given)
        if math.isnan(value):  # it would never reach zero
            raise ValueError
        return value
    except (TypeError, ValueError):
        raise ShapeError(
            f"an event returned {shown_briefly(given)} at t = {t:.6g} s, expected a number",
            name="events",
            given=given,
        ) from None
