"""Joint types of Extended URDF, and selection of joints by parts of their names."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable

from robodyn.description import Joint, Vector
from robodyn.joints import fixed, spherical, universal
from robodyn.joints.common.kind import JointKind

__all__ = ["BALL", "JOINTS", "moving", "of_type"]

_AXES: dict[str, Vector] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
BALL = "SPHERICAL"
#: Word -> kind, first and second axis.
JOINTS: dict[str, tuple[JointKind, str, str]] = {
    BALL: (spherical.KIND, "X", "Y"),
    "FIXED": (fixed.KIND, "X", "Y"),
    "CARDAN": (universal.KIND, "X", "Y"),
    **{f"UJOINT_{a}{b}": (universal.KIND, a, b) for a, b in itertools.permutations("XYZ", 2)},
}


def moving(joints: Iterable[Joint], part: str) -> list[str]:
    """Joints with coordinates of their own whose names have a word in them."""
    return [j.name for j in joints if part in j.name and j.nv and j.mimic is None]


def of_type(joint: Joint, word: str) -> Joint:
    """A joint of another type, at the same place; limits, mimic and spring are not of that type."""
    kind, axis, axis2 = JOINTS[word]
    return dataclasses.replace(
        joint,
        kind=kind.name,
        axis=_AXES[axis],
        axis2=_AXES[axis2],
        limits=None,
        mimic=None,
        stiffness=0.0,
        pitch=0.0,
        parameters=(),
    )
