"""External wrenches, on the bodies on which they act."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.description.wrench import PointOfLink
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import placements
from robodyn.symbolic.spatial import Placement, Wrench
from robodyn.symbolic.vector import Vec3


def in_world(place: str) -> bool:
    """Whether a wrench there is in axes of the world, not of the link."""
    return isinstance(place, PointOfLink) and place.axes == "world"


def on_body(
    state: State, place: str, F: Wrench, link: Callable[[str], tuple[int, Placement]]
) -> tuple[int, Wrench]:
    """Body on which a wrench acts, and the wrench about its origin in its axes.

    place: A link, or a `PointOfLink`.
    F: As it is given there.
    link: Body that carries a link, and the link frame on it.
    """
    if not isinstance(place, PointOfLink):
        body, X = link(place)
        return body, X.wrench_out(F)
    body, X = link(place.link)
    point = X @ Placement(p=Vec3.of(place.at))
    if not in_world(place):
        return body, point.wrench_out(F)
    R = placements(state)[body].R
    turned = Wrench(R.inverse_times(F.f), R.inverse_times(F.n))
    return body, Placement(p=point.p).wrench_out(turned)
