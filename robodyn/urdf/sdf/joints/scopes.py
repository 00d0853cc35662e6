"""Scoped names of nested models: ``inner::name``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from robodyn.urdf.sdf.common.frames import MODEL, SEPARATOR
from robodyn.urdf.sdf.joints.axes import Axis
from robodyn.urdf.sdf.joints.joint import SdfJoint

__all__ = ["WORLD", "merged_joint", "scoped", "scoped_axis", "scoped_joint"]

#: The name of the world in every model.
WORLD = "world"


def scoped(name: str, scope: str) -> str:
    """The scoped name of a frame of a nested model; ``scope`` is ``"inner::"`` or empty."""
    if name == WORLD or not scope:
        return name
    return scope.removesuffix(SEPARATOR) if name == MODEL else scope + name


def scoped_axis(axis: Axis, scope: str) -> Axis:
    """An axis of a joint of a nested model, with scoped names."""
    return _expressed(axis, lambda name: scoped(name, scope))


def scoped_joint(joint: SdfJoint, scope: str) -> SdfJoint:
    """A joint of a nested model, with scoped names."""
    return _renamed(joint, scope, lambda name: scoped(name, scope)) if scope else joint


def merged_joint(joint: SdfJoint, model: str) -> SdfJoint:
    """A joint of a merged model, whose frame has another name."""
    return _renamed(joint, "", lambda name: model if name == MODEL else name)


def _renamed(joint: SdfJoint, scope: str, renamed: Callable[[str], str]) -> SdfJoint:
    place = joint.place
    if place.relative_to:
        place = dataclasses.replace(place, relative_to=renamed(place.relative_to))

    return dataclasses.replace(
        joint,
        name=scope + joint.name,
        parent=renamed(joint.parent),
        child=renamed(joint.child),
        place=place,
        axes=tuple(_expressed(axis, renamed) for axis in joint.axes),
    )


def _expressed(axis: Axis, renamed: Callable[[str], str]) -> Axis:
    frame = axis.expressed_in
    return dataclasses.replace(axis, expressed_in=renamed(frame)) if frame else axis
