"""What a model has beyond bodies, joints, loops, motors and springs.

What acts on the bodies whatever happens is refused; what acts in contacts, or when it is driven, is
left out with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robodyn.urdf.mjcf.body_forces import unread_of_medium
from robodyn.urdf.mjcf.names import Names
from robodyn.urdf.mjcf.passive import drives_fixed_tendon, drives_joint, own, switched_off

__all__ = ["EARTH", "gravity_of", "left_out", "some_of", "unmodelled"]

#: Gravity where nobody says another [m/s^2].
EARTH = (0.0, 0.0, -9.81)

#: Largest number of names in a warning.
LISTED = 8


def gravity_of(mujoco: Any, model: Any) -> tuple[float, float, float]:
    """Gravity of ``<option>`` [m/s^2], in the world."""
    off = switched_off(mujoco, model, "GRAVITY")
    x, y, z = (0.0 if off else float(g) for g in model.opt.gravity)
    return x, y, z


def unmodelled(mujoco: Any, model: Any, names: Names) -> Iterator[tuple[str, str]]:
    """What acts on bodies and has no counterpart: the element, and why."""
    kinds, spring = mujoco.mjtJoint, not switched_off(mujoco, model, "SPRING")
    for body in np.flatnonzero(np.asarray(model.body_gravcomp) < 0.0):
        yield f"body {names.bodies[body]!r}", "a negative gravcomp has no counterpart"
    if getattr(model, "nplugin", 0):
        for body in np.flatnonzero(np.asarray(model.body_plugin) >= 0):
            yield f"body {names.bodies[body]!r}", "a plugin that acts on it has no counterpart"
    if getattr(model, "nflex", 0):
        yield "<flex>", "deformable bodies have no counterpart"
    yield from unread_of_medium(model, names)
    for k, name in enumerate(names.actuators):
        passive = own(model, "actuator_damping", k) or own(model, "actuator_armature", k)
        driving = drives_joint(mujoco, model, k) or drives_fixed_tendon(mujoco, model, k)
        if passive and not driving:
            yield (
                f"actuator {name!r}",
                "damping or armature of what is no joint and no fixed tendon has no counterpart",
            )
        if np.any(getattr(model, "actuator_dampingpoly", np.zeros(k + 1))[k]):
            yield f"actuator {name!r}", "a dampingpoly has no counterpart: dampers are linear"
    for j, name in enumerate(names.joints):
        element, dof = f"joint {name!r}", model.jnt_dofadr[j]
        single = int(model.jnt_type[j]) in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE)
        if not single and spring and model.jnt_stiffness[j]:
            yield element, "a spring in a ball or free joint has no counterpart"
        for what, where in (
            ("jnt_stiffnesspoly", j),
            ("jnt_springyield", j),
            ("dof_dampingpoly", dof),
        ):
            if np.any(getattr(model, what, np.zeros(where + 1))[where]):
                word = what.partition("_")[2]
                yield element, f"a {word} has no counterpart: springs and dampers are linear"


def left_out(mujoco: Any, model: Any, names: Names) -> Iterator[str]:
    """What acts only in contacts, at limits or by hand."""
    touching = np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity)
    moving = np.asarray(model.body_weldid)[model.geom_bodyid] != 0
    if not switched_off(mujoco, model, "CONTACT") and (touching * moving).any():
        yield f"contacts of {np.count_nonzero(touching)} geoms"
    kinds = mujoco.mjtJoint
    balls = [
        name
        for j, name in enumerate(names.joints)
        if int(model.jnt_type[j]) == kinds.mjJNT_BALL and model.jnt_limited[j]
    ]
    if balls:
        yield f"ranges of ball joints {some_of(balls)}"
    held = np.asarray(model.jnt_actgravcomp) * np.any(model.body_gravcomp)
    if held.any():
        motors = [names.joints[j] for j in np.flatnonzero(held)]
        yield f"that the motors of {some_of(motors)} exert the gravcomp (actuatorgravcomp)"
    if model.nsensor:
        yield f"{model.nsensor} sensors"
    moved = [names.bodies[body] for body in np.flatnonzero(np.asarray(model.body_mocapid) >= 0)]
    if moved:
        yield f"mocap bodies {some_of(moved)}, which stand still here"


def some_of(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(repr(name) for name in names[:LISTED]) + more
