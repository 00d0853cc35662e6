"""What is raised where a motion cannot go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robodyn.errors import RobodynError
from robodyn.simulation.integrators.method import is_breakdown
from robodyn.simulation.record import Record

__all__ = ["breaking_down"]


@contextmanager
def breaking_down(record: Record, t: float) -> Iterator[None]:
    """Raise `SimulationError`, with what was recorded, for what breaks down until ``t`` [s]."""
    try:
        yield
    except RobodynError as error:
        if not is_breakdown(error):
            raise  # what a user gave
        raise record.broken(t, error) from error
