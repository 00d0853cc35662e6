"""What happened at one instant of a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray

__all__ = ["EventRecord", "sample_of"]


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
        it carries. Less than zero where a load is caught that brings energy.
    dissipated : float [J]
        What was lost for good: of bodies that meet, by the contact between them.
    motion : tuple of int
        Which of simultaneous motions it happened to; empty for a single one.
    """

    time: float
    name: str
    energy_loss: float = 0.0
    dissipated: float = 0.0
    motion: tuple[int, ...] = ()


def sample_of(t: FloatArray, time: float) -> int:
    """The first sample that shows what an event has done.

    Where speeds jump a motion has two samples at one time: it is the second of them.
    """
    first, beyond = (int(np.searchsorted(t, time, side=side)) for side in ("left", "right"))
    return beyond - 1 if beyond > first else first
