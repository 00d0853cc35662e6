"""Errors of motions that cannot go on, with the trajectory until then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robodyn.errors import SimulationError, SimulationInterrupted
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Attribute in which exceptions of other packages get the trajectory.
NOTE = "The motion until then is the .trajectory of this exception."


class OnError:
    """A context that calls a function for an exception, which may raise another one.

    It is entered in each step, and is therefore kept as simple as possible.

    handle: Called with the exception. If it returns, the exception is raised.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Callable[[BaseException], None]) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:
            self._handle(error)


def attaching_trajectory(so_far: Callable[[], Trajectory | None]) -> OnError:
    """Context that sets ``.trajectory`` of an exception to the motion up to then.

    An exception of a controller, an event or another function of the user stays what it is; Ctrl-C
    becomes `SimulationInterrupted`.
    """

    def handle(error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise SimulationInterrupted(
                "the simulation was interrupted; .trajectory is what there is of it",
                trajectory=so_far(),
            ) from error
        known = getattr(error, "trajectory", None) is not None and not _is_ours(error)
        if isinstance(error, Exception) and not known:
            _attach(error, so_far())

    return OnError(handle)


def detach_trajectory(error: Any) -> Trajectory | None:
    """Remove the trajectory that `attaching_trajectory` has set, and return it."""
    if not (_is_ours(error) or isinstance(error, SimulationError | SimulationInterrupted)):
        return None
    motion: Trajectory | None = error.trajectory
    error.trajectory = None
    return motion


def _is_ours(error: Any) -> bool:
    """Whether `attaching_trajectory` has set the trajectory of an exception."""
    return NOTE in getattr(error, "__notes__", ())


def _attach(error: Any, motion: Trajectory | None) -> None:
    try:
        error.trajectory = motion
    except (AttributeError, TypeError):  # its class allows no attributes
        return
    says_so = motion is None or isinstance(error, SimulationError)
    if not (says_so or _is_ours(error)):
        error.add_note(NOTE)
