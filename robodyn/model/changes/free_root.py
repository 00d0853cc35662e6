"""Robots that their files let move freely in a world, with a base that moves instead."""

from __future__ import annotations

import dataclasses

from robodyn.description import Joint, Mechanism, Pose
from robodyn.description.graph_check import find_root
from robodyn.errors import SettingsError
from robodyn.joints import floating
from robodyn.literals import Base

__all__ = ["without_free_root"]

#: The link that stands still, as files call it.
WORLD = "world"


def without_free_root(mechanism: Mechanism, base: Base) -> Mechanism:
    """A mechanism without the world and the free joint that come before the robot, if they do.

    A root with mass is a body of the robot, and not the world.

    Parameters
    ----------
    mechanism : Mechanism
    base : str
        Of one that moves, the world is a link of that name alone: in a frame that is led along a
        path, such as an orbit, a body may be free.

    Raises
    ------
    SettingsError
        If more than that joint is in the world, so that the base cannot take its place.
    """
    root = find_root(mechanism)
    outward = [joint for joint in mechanism.joints if joint.parent == root]
    free = next((joint for joint in outward if joint.kind == floating.KIND.name), None)
    carried = base == "moving" and root != WORLD  # the joint is between a body and what moves it
    body = root != WORLD and any(
        link.name == root and link.inertia is not None for link in mechanism.links
    )
    if free is None or carried or body:
        return mechanism
    if len(outward) > 1 or _is_more(mechanism, root, free):
        raise SettingsError(
            f"base is {base!r}, and cannot take the place of joint {free.name!r}, by which "
            f"{free.child!r} moves freely in {root!r}: other things stand in {root!r} too, or the "
            "joint has damping, friction or an origin of its own; with base='fixed' that joint has "
            "the six degrees of freedom"
        )
    return dataclasses.replace(
        mechanism,
        links=tuple(link for link in mechanism.links if link.name != root),
        joints=tuple(joint for joint in mechanism.joints if joint is not free),
        root=mechanism.root and free.child,
    )


def _is_more(mechanism: Mechanism, root: str, free: Joint) -> bool:
    """Whether the root is more than the place where the joint is, or the joint more than free."""
    used = {end for x in mechanism.loops for end in (x.predecessor, x.successor)}
    used |= {end for x in mechanism.couplings for end in (x.predecessor, x.successor)}
    used |= {link for x in mechanism.link_elements for link, _ in x.places} - {"world"}
    used |= {link for x in (*mechanism.forces, *mechanism.constraints) for link in x.links} - {
        WORLD
    }
    used |= {rotor.link for rotor in mechanism.rotors}
    used |= {link.name for link in mechanism.links if link.inertia is not None}
    named = {name for name, _ in mechanism.actuators}
    named |= {name for constraint in mechanism.constraints for name in constraint.joints}
    named |= {force.joint for force in mechanism.forces}
    resists = bool(free.damping or free.friction)
    return root in used or free.name in named or resists or free.origin != Pose()
