"""Forces between links as tendons and ``gravcomp``."""

from __future__ import annotations

import numpy as np

from robodyn.description import Mechanism
from robodyn.force_elements.point_spring import PointSpring
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.tolerances import SAME_POSITION
from robodyn.urdf.common.markup import text_of
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.writing.bodies import WrittenBodies
from robodyn.urdf.mjcf.writing.document import Document, add


def add_forces(document: Document, mechanism: Mechanism, bodies: WrittenBodies) -> None:
    """Add springs between links and carried weights; say what has no counterpart."""
    carried: dict[str, float] = {}
    for k, item in enumerate(mechanism.link_elements):
        name = getattr(item, "name", "") or f"{item.tag}_{k}"
        if isinstance(item, PointSpring):
            _add_spring(document, bodies, item, name)
        elif isinstance(item, WeightCompensation) and _is_at_center(bodies, item):
            carried[item.link] = carried.get(item.link, 0.0) + item.mass
        else:
            document.lost.append(f"<{item.tag}> {name!r} is left out: MJCF has no such force")
    for link, mass in carried.items():
        inertia = bodies.inertia(link)
        assert inertia is not None
        for body in bodies.parts(link):
            body.set("gravcomp", text_of(mass / inertia.mass))


def _add_spring(document: Document, bodies: WrittenBodies, spring: PointSpring, name: str) -> None:
    tendon = document.add(
        "tendon/spatial",
        name=name,
        limited="false",
        stiffness=spring.stiffness,
        damping=spring.damping,
        springlength=spring.rest_length,
    )
    for end, (link, point) in enumerate(spring.places, 1):
        site = document.add_site(bodies.of(link), f"{name}_{end}", pose_of(point))
        add(tendon, "site", site=site)


def _is_at_center(bodies: WrittenBodies, item: WeightCompensation) -> bool:
    """Whether a carried weight is at the centre of mass, where ``gravcomp`` acts."""
    inertia = bodies.inertia(item.link)
    if inertia is None or not inertia.mass:
        return False
    return bool(np.abs(np.subtract(item.point, inertia.origin.xyz)).max() < SAME_POSITION)
