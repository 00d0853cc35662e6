"""Inertias that other programs take, of robots whose links have some that they refuse."""

from __future__ import annotations

import dataclasses

from robodyn.description import Inertia, Link, Mechanism
from robodyn.description.pose import inverse_pose
from robodyn.description.values import why_impossible
from robodyn.errors import some_of
from robodyn.force_elements.common.link_element import WORLD
from robodyn.tolerances import LEAST_MASS
from robodyn.topology.body_inertia import inertia_about_origin, shift_inertia
from robodyn.topology.spanning_tree import SpanningTree, spanning_tree


def with_sound_inertias(mechanism: Mechanism) -> tuple[Mechanism, list[str]]:
    """Add inertias that no body has, or that have no mass, to links that they are fixed to.

    The motion is the same, as it depends on the sum. Inertias for which there is no such link
    stay as they are, those without mass with hardly any.
    """
    refused = [x for x in mechanism.links if x.inertia is not None and _is_refused(x.inertia)]
    if not refused:
        return mechanism, []
    tree = spanning_tree(mechanism)
    links = {x.name: x for x in mechanism.links}
    added, light = list[str](), list[str]()
    for link in refused:
        other = _heaviest_beside(link, [*links.values()], tree)
        if other is not None:
            links[link.name] = dataclasses.replace(link, inertia=None)
            links[other.name] = other
            added.append(f"{link.name} to {other.name}")
        elif link.inertia is not None and link.inertia.mass == 0.0:
            inertia = dataclasses.replace(link.inertia, mass=LEAST_MASS)
            links[link.name] = dataclasses.replace(link, inertia=inertia)
            light.append(link.name)
    lost = []
    if added:
        lost.append(
            "inertias that other programs refuse are added to those of links that they are fixed "
            f"to ({some_of(added)})"
        )
    if light:
        lost.append(f"inertias without mass ({some_of(light)}) have {LEAST_MASS:g} kg")
    return dataclasses.replace(mechanism, links=tuple(links.values())), lost


def _is_refused(inertia: Inertia) -> bool:
    """Whether other programs refuse an inertia; what is nothing at all counts as none."""
    if inertia.mass == 0.0:
        return bool(inertia.matrix.any())
    return inertia.mass > 0.0 and why_impossible(inertia.mass, inertia.matrix) is not None


def _heaviest_beside(link: Link, links: list[Link], tree: SpanningTree) -> Link | None:
    """The heaviest link that a link is fixed to, with the inertia of both; ``None`` if none is."""
    body, X_BL = tree.links[link.name]
    beside = [
        x for x in links if x.name not in (link.name, WORLD) and tree.links[x.name][0] == body
    ]
    heavy = [x for x in beside if x.inertia is not None and x.inertia.mass > 0.0]
    if not heavy:
        return None
    other = max(heavy, key=lambda x: x.inertia.mass if x.inertia else 0.0)
    assert link.inertia is not None and other.inertia is not None
    X = inverse_pose(tree.links[other.name][1]) @ X_BL
    both = shift_inertia(X, inertia_about_origin(link.inertia))
    both += inertia_about_origin(other.inertia)
    inertia = Inertia.from_matrix(both.mass, both.h / both.mass, both.about_center())
    return None if _is_refused(inertia) else dataclasses.replace(other, inertia=inertia)
