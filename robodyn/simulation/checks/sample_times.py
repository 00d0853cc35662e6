"""Digital controllers whose instants are no ends of steps."""

from __future__ import annotations

from typing import Any

from robodyn.caller import warn
from robodyn.errors import SampleWarning
from robodyn.simulation.control.controller import nested_controllers

__all__ = ["warn_of_samples"]


def warn_of_samples(controller: Any, step: float) -> None:
    """Warn once of a controller that says that steps [s] do not end at its instants.

    It has a method ``uneven``, as `robodyn.controllers.Sampled`.
    """
    for own in nested_controllers(controller):
        uneven = getattr(own, "uneven", None)
        reason = uneven(step) if callable(uneven) else None
        if reason:
            warn(SampleWarning(reason))
            return
