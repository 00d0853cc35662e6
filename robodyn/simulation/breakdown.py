"""What says that a motion cannot go on, and what is raised then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robodyn.errors import AssemblyError, InconsistentStateError, ShapeError, SingularError
from robodyn.simulation.record import Record

__all__ = ["breaking_down"]

#: Arrays that a motion makes itself, and that are not finite where it breaks down.
OF_THE_MOTION = {"q", "v", "tau", "force", "dv", "u", "a_controlled", "tau_free"}

#: What says that a motion cannot go on from where it has come.
BREAKDOWNS = AssemblyError, InconsistentStateError, SingularError


@contextmanager
def breaking_down(record: Record, t: float) -> Iterator[None]:
    """Raise `SimulationError`, with what was recorded, for what breaks down until ``t`` [s]."""
    try:
        yield
    except (ShapeError, *BREAKDOWNS) as error:
        if isinstance(error, ShapeError) and error.name not in OF_THE_MOTION:
            raise  # what a user gave
        raise record.broken(t, error) from error
