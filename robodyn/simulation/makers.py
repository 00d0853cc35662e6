"""What a simulation makes anew wherever what moves changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robodyn.simulation.limits import Limits
from robodyn.simulation.record import Record
from robodyn.simulation.stepper import Stepper
from robodyn.simulation.stops import RigidStops

__all__ = ["Makers"]


@dataclass(frozen=True, eq=False)
class Makers:
    """What a phase of a motion needs, as `simulate` was told to make it.

    Attributes
    ----------
    stepper : callable
        (robot, driven, base) -> Stepper.
    record : callable
        (robot, base, size, driven) -> Record.
    limits : callable
        robot -> Limits.
    stops : RigidStops or None
    to_files : bool
        Whether records are written to files.
    """

    stepper: Callable[..., Stepper]
    record: Callable[..., Record]
    limits: Callable[..., Limits]
    stops: RigidStops | None = None
    to_files: bool = False
