"""Contacts with the ground."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.array_types import Array
from robodyn.equations.forces.between_links import point_motions
from robodyn.equations.quantities.common.quantity import STATE, Options, Output, Q, Quantity, V
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.results import GroundContact


def ground_contacts(t: Tracer) -> Results:
    """Force, depth and slip of each point that may touch the ground."""
    points = point_motions(t.state, t.ground)
    planes = zip(t.setup.ground, points, strict=True)
    touches = [plane.touch(x) for plane, at in planes for x in at]
    return {
        "force": [touch.force for touch in touches],
        "depth": [touch.depth for touch in touches],
        "slip": [touch.slip for touch in touches],
    }


def by_name(setup: Setup, options: Options) -> Callable[..., dict[str, GroundContact]]:
    """The contacts by their names."""
    names = [name for plane in setup.ground for name, _, _ in plane.contacts]

    def made(found: tuple[Array, ...]) -> dict[str, GroundContact]:
        force, depth, slip = (x + 0.0 for x in found)  # no zero has a sign
        return {
            name: GroundContact(force[..., k, :], depth[..., k], slip[..., k, :])
            for k, name in enumerate(names)
        }

    return made


def _contacts(t: Tracer) -> int:
    return sum(len(plane.contacts) for plane in t.setup.ground)


#: Quantities by name.
ROWS = {
    "ground_contacts": Quantity(
        (Q, V),
        (
            Output("force", (_contacts, 3), "N"),
            Output("depth", (_contacts,), "m"),
            Output("slip", (_contacts, 3), "m/s"),
        ),
        ground_contacts,
        STATE,
        base=True,
        result=by_name,
    ),
}
