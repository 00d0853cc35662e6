"""What a simulation makes anew wherever what moves changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.joint_stops import RigidStops
from robodyn.simulation.motion.record import Record
from robodyn.simulation.step.stepper import Stepper

__all__ = ["MotionOptions"]


@dataclass(frozen=True, eq=False)
class MotionOptions:
    """What a phase of a motion needs, as `simulate` was told to make it.

    Attributes
    ----------
    stepper : callable
        (robot, driven, base) -> Stepper; it takes ``wrenches`` and ``tell`` as well.
    record : callable
        (robot, base, size, driven) -> Record; so does it.
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

    def of_motion(self, k: int, wrenches: Any) -> MotionOptions:
        """The same for one of many motions, on which its own wrenches act."""
        if callable(wrenches):
            return self
        own = {link: x if x.ndim == 1 else x[k] for link, x in wrenches.items()}
        stepper = partial(self.stepper, wrenches=own)
        return replace(self, stepper=stepper, record=partial(self.record, wrenches=own))
