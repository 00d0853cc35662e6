"""What a file of USD says of gravity, and in words of PhysX and MuJoCo, that moves a robot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from robodyn.description import Link
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.tolerances import DEFAULT_GRAVITY
from robodyn.urdf.usd.stage import Stage

#: Gravity where the file says no other [m/s^2].
EARTH = 9.81

#: Directions of axes.
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}

#: Words that are read.
ARMATURE, WEIGHTLESS = "physxJoint:armature", "physxRigidBody:disableGravity"

#: Ends of words that act on robots.
ACTING = {
    "armature", "angularDamping", "damping", "disableGravity", "dynamicFrictionEffort",
    "frictionloss", "gearing", "gravcomp", "jointFriction", "linearDamping",
    "staticFrictionEffort", "stiffness", "viscousFrictionCoefficient",
}  # fmt: skip


def gravity_note(stage: Stage) -> str:
    """What has to be given where gravity is not that of the Earth along -z."""
    up = str(stage.pxr.UsdGeom.GetStageUpAxis(stage.stage))
    down, size = -np.array(AXES[up]), EARTH
    for prim in stage.prims:
        if prim.IsA(stage.pxr.UsdPhysics.Scene):
            along = stage.numbers(prim, "physics:gravityDirection", np.zeros(3))
            length = float(np.linalg.norm(along))
            down = along / length if length else down
            given = stage.numbers(prim, "physics:gravityMagnitude", -math.inf)
            size = given * stage.length if given >= 0.0 else size
    gravity = size * down
    if np.abs(gravity - (0.0, 0.0, -EARTH)).max() <= DEFAULT_GRAVITY:
        return ""
    shown = ", ".join(f"{x:g}" for x in gravity.round(6) + 0.0)
    turned = "" if up == "Z" else f"the {up} axis points up: "
    return f"{turned}gravity of the file is not read: give gravity=({shown})"


def foreign_words(prims: Iterable[Any]) -> list[str]:
    """Names of attributes that would move the robot and are not read."""
    found = dict[str, None]()
    for prim in prims:
        for attribute in prim.GetAuthoredAttributes():
            name = attribute.GetName()
            words = name.split(":")
            first, last = words[0], words[-1]
            other = first.startswith("physx") or first == "mjc"
            if other and last in ACTING and name not in (ARMATURE, WEIGHTLESS) and attribute.Get():
                found[name] = None
    return [*found]


def is_prescribed(pxr: Any, body: Any) -> bool:
    """Whether a simulator holds a body, or moves it by hand."""
    api = pxr.UsdPhysics.RigidBodyAPI(body)
    return bool(api.GetKinematicEnabledAttr().Get() or not api.GetRigidBodyEnabledAttr().Get())


def carried_weights(
    stage: Stage, links: Iterable[tuple[Any, Link]]
) -> Iterator[WeightCompensation]:
    """What carries the weight of links on which gravity does not act."""
    for prim, link in links:
        if link.inertia is not None and stage.numbers(prim, WEIGHTLESS, 0.0):
            center, mass = link.inertia.origin.xyz, link.inertia.mass
            yield WeightCompensation(link.name, center, mass, f"weight of {link.name}")
