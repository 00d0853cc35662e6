"""Scoped names of nested models: ``inner::name``."""

from __future__ import annotations

import dataclasses

from robodyn.urdf.sdf.common.frames import MODEL, SEPARATOR
from robodyn.urdf.sdf.joints.axes import Axis
from robodyn.urdf.sdf.joints.joint import SdfJoint

__all__ = ["WORLD", "scoped", "scoped_axis", "scoped_joint"]

#: The name of the world in every model.
WORLD = "world"


def scoped(name: str, scope: str) -> str:
    """The scoped name of a frame of a nested model; ``scope`` is ``"inner::"`` or empty."""
    if name == WORLD or not scope:
        return name
    return scope.removesuffix(SEPARATOR) if name == MODEL else scope + name


def scoped_axis(axis: Axis, scope: str) -> Axis:
    """An axis of a joint of a nested model, with scoped names."""
    if not axis.expressed_in:
        return axis
    return dataclasses.replace(axis, expressed_in=scoped(axis.expressed_in, scope))


def scoped_joint(joint: SdfJoint, scope: str) -> SdfJoint:
    """A joint of a nested model, with scoped names."""
    if not scope:
        return joint
    place = joint.place
    if place.relative_to:
        place = dataclasses.replace(place, relative_to=scoped(place.relative_to, scope))
    return dataclasses.replace(
        joint,
        name=scope + joint.name,
        parent=scoped(joint.parent, scope),
        child=scoped(joint.child, scope),
        place=place,
        axes=tuple(scoped_axis(axis, scope) for axis in joint.axes),
    )
