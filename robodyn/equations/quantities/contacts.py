"""Contacts with the ground."""

from __future__ import annotations

from robodyn.equations.quantities.tracer import Results, Tracer
from robodyn.equations.tree import ground_contact

__all__ = ["ground_contacts"]


def ground_contacts(t: Tracer) -> Results:
    """Force, depth and slip of each point that may touch the ground."""
    touches = ground_contact.touches(t.model, t.state, t.base, t.contacts)
    return {
        "force": [touch.force for touch in touches],
        "depth": [touch.depth for touch in touches],
        "slip": [touch.slip for touch in touches],
    }
