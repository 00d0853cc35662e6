"""Contacts with the ground."""

from __future__ import annotations

from robodyn.equations.forces.between_links import point_motions
from robodyn.equations.quantities.common.quantity import STATE, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer

__all__ = ["ROWS", "ground_contacts"]


def ground_contacts(t: Tracer) -> Results:
    """Force, depth and slip of each point that may touch the ground."""
    points = point_motions(t.model, t.state, t.base, t.ground)
    planes = zip(t.setup.ground, points, strict=True)
    touches = [plane.touch(x) for plane, at in planes for x in at]
    return {
        "force": [touch.force for touch in touches],
        "depth": [touch.depth for touch in touches],
        "slip": [touch.slip for touch in touches],
    }


def _contacts(t: Tracer) -> int:
    return sum(len(plane.contacts) for plane in t.setup.ground)


#: Quantities by name.
ROWS = {
    "ground_contacts": Quantity(
        inputs=(Q, V),
        outputs=(
            Output("force", (_contacts, 3), "N"),
            Output("depth", (_contacts,), "m"),
            Output("slip", (_contacts, 3), "m/s"),
        ),
        trace=ground_contacts,
        closed=STATE,
        base=True,
    ),
}
