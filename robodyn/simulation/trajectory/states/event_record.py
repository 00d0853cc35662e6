"""What happened at one instant of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray

__all__ = ["EventRecord", "events_among", "sample_of"]


@dataclass(frozen=True)
class EventRecord:
    """An event of a motion: an impact, a stop, a latch, the end.

    Attributes
    ----------
    time : float [s]
    name : str
        Of the event.
    energy_loss : float [J]
        What the motion had just before it, less what it has just after: of the robot, and of what
        it carries. Less than zero where it catches a load that brings energy.
    motion : tuple of int
        Which of simultaneous motions it happened to; empty for a single one.
    dissipated : float [J]
        What was lost for good: of bodies that meet, in the contact between them.

    Examples
    --------
    >>> import robodyn as rd
    >>> down = rd.Event(lambda t, q, v: q[0], name="down")
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[0.5, 0.0], duration=5.0, events=[down])
    >>> run.events[0].name, run.events[0].time == run.t[-1]
    ('down', np.True_)
    """

    time: float
    name: str
    energy_loss: float = 0.0
    motion: tuple[int, ...] = ()
    dissipated: float = 0.0


def sample_of(t: FloatArray, time: float) -> int:
    """The first sample that shows what an event has done.

    Where speeds jump a motion has two samples at one time: it is the second of them.
    """
    first, beyond = (int(np.searchsorted(t, time, side=side)) for side in ("left", "right"))
    return beyond - 1 if beyond > first else first


def events_among(
    events: tuple[EventRecord, ...], t: FloatArray, index: Any
) -> tuple[EventRecord, ...]:
    """Events between the first and the last of the samples that an index takes."""
    if not events:
        return ()
    times = np.atleast_1d(t)
    kept = np.arange(times.size).reshape(np.shape(t))[index]
    if not kept.size:
        return ()
    first, last = kept.min(), kept.max()
    return tuple(event for event in events if first <= sample_of(times, event.time) <= last)
