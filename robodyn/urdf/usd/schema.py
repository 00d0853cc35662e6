"""How robots stand in USD: types of joints, frames whose x axis is the axis of a joint, digits.

Numbers of UsdPhysics have single precision; beside each that rounds one of ours stands the number
in full, as a custom attribute that begins with ``robodyn:``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError
from robodyn.joints import (
    continuous,
    cylindrical,
    distance,
    fixed,
    planar,
    prismatic,
    revolute,
    spherical,
    universal,
)
from robodyn.joints.common.described import align_z

#: Types of joints by kind; of a generic joint the freedoms, in axes whose x is that of the joint.
TYPES = {
    revolute.KIND.name: "PhysicsRevoluteJoint",
    continuous.KIND.name: "PhysicsRevoluteJoint",
    prismatic.KIND.name: "PhysicsPrismaticJoint",
    spherical.KIND.name: "PhysicsSphericalJoint",
    fixed.KIND.name: "PhysicsFixedJoint",
    distance.KIND.name: "PhysicsDistanceJoint",
}
FREEDOMS = {
    cylindrical.KIND.name: ("transX", "rotX"),
    planar.KIND.name: ("transY", "transZ", "rotX"),
    universal.KIND.name: ("rotX", "rotY"),
}
ALL_FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")

#: Beginning of the names of attributes with all digits.
EXACT = "robodyn:"

#: Custom data of joints: whether a drive stands for a spring, and for a motor. Drives of other
#: programs are motors, and what their stiffness and damping do is the matter of a controller.
SPRING, MOTOR = "spring", "motor"


def usd() -> Any:
    """The package ``pxr``.

    Raises MissingExtraError: Without usd-core.
    """
    try:
        import pxr
        import pxr.Gf
        import pxr.Sdf
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.UsdPhysics
    except ImportError as error:
        raise MissingExtraError("usd-core", "usd", "USD") from error
    return pxr


def turned_frame(kind: str, axis: Any, axis2: Any) -> FloatArray:
    """Rotation, shape (4, 4), to the axes in which USD has a joint: x is its axis.

    A universal joint turns about y first, and then about x.
    """
    R = np.eye(4)
    if kind == universal.KIND.name:
        x, y = np.array(axis2, float), np.array(axis, float)
        R[:3, :3] = np.array([x, y, np.cross(x, y)]).T
    elif kind not in (fixed.KIND.name, spherical.KIND.name, distance.KIND.name):
        R[:3, :3] = np.roll(align_z(np.array(axis, float)), 1, axis=1)
    return R
