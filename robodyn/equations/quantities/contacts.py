"""Contacts with the ground."""

from __future__ import annotations

from robodyn.equations.quantities.common.quantity import STATE, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree import ground_contact

__all__ = ["ROWS", "ground_contacts"]


def ground_contacts(t: Tracer) -> Results:
    """Force, depth and slip of each point that may touch the ground."""
    touches = ground_contact.touches(t.model, t.state, t.base, t.contacts)
    return {
        "force": [touch.force for touch in touches],
        "depth": [touch.depth for touch in touches],
        "slip": [touch.slip for touch in touches],
    }


def _contacts(t: Tracer) -> int:
    return len(t.contacts)


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
