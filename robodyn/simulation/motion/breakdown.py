"""Errors of motions that cannot go on, with the trajectory until then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from robodyn.errors import RobodynError, SimulationError, SimulationInterrupted
from robodyn.simulation.integrators.method import is_breakdown
from robodyn.simulation.motion.record import Record
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["breaking_down", "given_up", "keeping"]

#: What is added to exceptions that are not of this package.
NOTE = "The motion until then is the .trajectory of this exception."


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
def keeping(so_far: Callable[[], Trajectory | None]) -> Iterator[None]:
    """Give an exception that ends a motion early the trajectory until then, ``.trajectory``.

    An exception of a controller, an event or another function of the user stays what it is.

    Raises
    ------
    SimulationInterrupted
        For Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise SimulationInterrupted(
            "the simulation was interrupted; .trajectory is what there is of it",
            trajectory=so_far(),
        ) from interrupt
    except Exception as error:
        if getattr(error, "trajectory", None) is None or _is_ours(error):
            _attach(error, so_far())
        raise


def given_up(error: Any) -> Trajectory | None:
    """The motion that `keeping` gave an exception, which has none from then on."""
    if not (_is_ours(error) or isinstance(error, SimulationError | SimulationInterrupted)):
        return None
    motion: Trajectory | None = error.trajectory
    error.trajectory = None
    return motion


def _is_ours(error: Any) -> bool:
    """Whether an exception of the user has a motion by `keeping`: this one, or an earlier one."""
    return NOTE in getattr(error, "__notes__", ())


def _attach(error: Any, motion: Trajectory | None) -> None:
    try:
        error.trajectory = motion
    except (AttributeError, TypeError):  # its class allows no attributes
        return
    known = motion is None or isinstance(error, SimulationError)
    if not (known or _is_ours(error)):
        error.add_note(NOTE)
