"""Robots whose files have a free joint to a world, in place of which the base moves."""

from __future__ import annotations

import dataclasses

from robodyn.description import Joint, Mechanism, Pose
from robodyn.description.graph_check import find_root
from robodyn.errors import SettingsError
from robodyn.joints import floating
from robodyn.literals import Base
from robodyn.model.references import joints_referred_to, links_referred_to

#: Name of the fixed link in files.
WORLD = "world"


def without_free_root(mechanism: Mechanism, base: Base) -> Mechanism:
    """A mechanism without a world and a free joint before the robot, if it has them.

    A root with mass is a body of the robot, not the world.

    base: For ``"moving"``, only a link called ``world`` is removed, as a body may also be free in a
        frame that moves along a path, such as an orbit.
    Raises SettingsError: If more than that joint is in the world, so that the base cannot take its
        place.
    """
    root = find_root(mechanism)
    outward = [joint for joint in mechanism.joints if joint.parent == root]
    free = next((joint for joint in outward if joint.kind == floating.KIND.name), None)
    carried = base == "moving" and root != WORLD  # the free joint is relative to the moving base
    body = root != WORLD and any(
        link.name == root and link.inertia is not None for link in mechanism.links
    )
    if free is None or carried or body:
        return mechanism
    if len(outward) > 1 or _is_more(mechanism, root, free):
        raise SettingsError(
            f"base is {base!r}, and cannot take the place of joint {free.name!r}, by which "
            f"{free.child!r} moves freely in {root!r}: other things stand in {root!r} too, or the "
            "joint has damping, friction, armature or an origin of its own; with base='fixed' that "
            "joint has the six degrees of freedom"
        )
    return dataclasses.replace(
        mechanism,
        links=tuple(link for link in mechanism.links if link.name != root),
        joints=tuple(joint for joint in mechanism.joints if joint is not free),
        root=mechanism.root and free.child,
    )


def _is_more(mechanism: Mechanism, root: str, free: Joint) -> bool:
    """Whether the root or the free joint have more than what a floating base replaces."""
    used = {*links_referred_to(mechanism)}
    used |= {link.name for link in mechanism.links if link.inertia is not None}
    named = {*joints_referred_to(mechanism)}
    resists = bool(free.damping or free.friction or free.armature)
    return root in used or free.name in named or resists or free.origin != Pose()
