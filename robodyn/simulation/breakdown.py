"""What is raised where a motion cannot go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from robodyn.errors import RobodynError, SimulationInterrupted
from robodyn.simulation.integrators.method import is_breakdown
from robodyn.simulation.record import Record
from robodyn.simulation.trajectory import Trajectory

__all__ = ["breaking_down", "interruptible"]


@contextmanager
def breaking_down(record: Record, t: float) -> Iterator[None]:
    """Raise `SimulationError`, with what was recorded, for what breaks down until ``t`` [s]."""
    try:
        yield
    except RobodynError as error:
        if not is_breakdown(error):
            raise  # what a user gave
        raise record.broken(t, error) from error


@contextmanager
def interruptible(so_far: Callable[[], Trajectory | None]) -> Iterator[None]:
    """Raise `SimulationInterrupted`, with what there is of the motion, for Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise SimulationInterrupted(
            "the simulation was interrupted; .trajectory is what there is of it",
            trajectory=so_far(),
        ) from interrupt
