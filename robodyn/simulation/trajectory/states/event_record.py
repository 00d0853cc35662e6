"""Records of events of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray


@dataclass(frozen=True)
class EventRecord:
    """An event of a motion: an impact, a stop, a latch, the end.

    Attributes
    ----------
    time : float [s]
    name : str
        Of the event.
    energy_loss : float [J]
        Energy of the robot and its load just before the event, less that just after. It is
        negative if the robot catches a load that brings energy.
    motion : tuple of int
        Index of the motion among simultaneous ones; empty for a single one.
    dissipated : float [J]
        Energy that was dissipated, as in the contact of bodies that meet.

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
    """Index of the first sample after an event.

    Where speeds jump, a motion has two samples at one time, and it is the second of them.
    """
    first, beyond = (int(np.searchsorted(t, time, side=side)) for side in ("left", "right"))
    return beyond - 1 if beyond > first else first


def events_among(
    events: tuple[EventRecord, ...], t: FloatArray, index: Any
) -> tuple[EventRecord, ...]:
    """Events between the first and the last of the samples that an index selects."""
    if not events:
        return ()
    times = np.atleast_1d(t)
    kept = np.arange(times.size).reshape(np.shape(t))[index]
    if not kept.size:
        return ()
    first, last = kept.min(), kept.max()
    return tuple(event for event in events if first <= sample_of(times, event.time) <= last)
