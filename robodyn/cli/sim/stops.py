"""The option ``--stops``: stops at the limits of joints, such as ``rigid,0.5``."""

from __future__ import annotations

import robodyn as rd
from robodyn.errors import RobodynError

__all__ = ["stops_of"]


def stops_of(text: str | None) -> rd.RigidStops | rd.CompliantStops | None:
    """Stops; none if none are asked for.

    Raises
    ------
    RobodynError
    """
    if text is None:
        return None
    kind, *words = text.split(",")
    try:
        numbers = [float(word) for word in words]
        if kind == "rigid" and len(numbers) <= 1:
            return rd.RigidStops(restitution=sum(numbers))  # none given: zero
        if kind == "compliant" and 1 <= len(numbers) <= 2:
            return rd.CompliantStops(*numbers)
    except ValueError:  # no numbers, or none that stops can have
        pass
    raise RobodynError(
        f"--stops is {text!r}, expected rigid, rigid,RESTITUTION (0 to 1), compliant,STIFFNESS or "
        "compliant,STIFFNESS,DAMPING"
    )
