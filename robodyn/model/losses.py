"""Refusal of what does not know that gears lose power."""

from __future__ import annotations

from robodyn.errors import SettingsError
from robodyn.model.model import Model


def refuse_losses(model: Model, what: str) -> None:
    """Check that no gear loses power.

    what: Which does not know of losses, for the error.
    Raises SettingsError: If one does.
    """
    for x in model.setup.gear_losses:
        raise SettingsError(
            f"{what} of {model.mechanism.name!r} without the power that the gear of {x.joint!r} "
            "loses: give its actuator efficiency=1 and backward_efficiency=1"
        )
