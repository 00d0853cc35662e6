"""A document in MJCF as a description, with all that cannot be part of it.

What acts on the bodies whatever happens and has no counterpart is a problem; what acts in contacts,
or when it is driven, is left out with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.description import Mechanism
from robodyn.errors import RobodynError, UrdfError, UrdfWarning, some_of
from robodyn.urdf.mjcf.bodies import Bodies
from robodyn.urdf.mjcf.compiled import compiled_model
from robodyn.urdf.mjcf.equalities import Equalities
from robodyn.urdf.mjcf.forces import body_forces, unread_of_medium
from robodyn.urdf.mjcf.model import CompiledModel, Passive
from robodyn.urdf.mjcf.motors import Motors, on_moving_joints
from robodyn.urdf.mjcf.tendons import Tendons

#: Gravity where nobody says another [m/s^2].
EARTH = (0.0, 0.0, -9.81)


def _unmodelled(compiled: CompiledModel) -> Iterator[tuple[str, str]]:
    """What acts on bodies and has no counterpart: the element, and why."""
    model, names, spring = compiled.model, compiled.names, not compiled.switched_off("SPRING")
    for body in np.flatnonzero(np.asarray(model.body_gravcomp) < 0.0):
        yield f"body {names.bodies[body]!r}", "a negative gravcomp has no counterpart"
    if getattr(model, "nplugin", 0):
        for body in np.flatnonzero(np.asarray(model.body_plugin) >= 0):
            yield f"body {names.bodies[body]!r}", "a plugin that acts on it has no counterpart"
    if getattr(model, "nflex", 0):
        yield "<flex>", "deformable bodies have no counterpart"
    yield from unread_of_medium(compiled)
    for k, name in enumerate(names.actuators):
        passive = compiled.own("actuator_damping", k) or compiled.own("actuator_armature", k)
        driving = compiled.drives_joint(k) or compiled.drives_fixed_tendon(k)
        if passive and not driving:
            yield (
                f"actuator {name!r}",
                "damping or armature of what is no joint and no fixed tendon has no counterpart",
            )
        if compiled.has("actuator_dampingpoly", k):
            yield f"actuator {name!r}", "a dampingpoly has no counterpart: dampers are linear"
    for j, name in enumerate(names.joints):
        element, dof = f"joint {name!r}", model.jnt_dofadr[j]
        if not compiled.is_single(j) and spring and model.jnt_stiffness[j]:
            yield element, "a spring in a ball or free joint has no counterpart"
        for what, where in (
            ("jnt_stiffnesspoly", j),
            ("jnt_springyield", j),
            ("dof_dampingpoly", dof),
        ):
            if compiled.has(what, where):
                word = what.partition("_")[2]
                yield element, f"a {word} has no counterpart: springs and dampers are linear"


def _left_out_of(compiled: CompiledModel) -> Iterator[str]:
    """What acts only in contacts, at limits or by hand."""
    model, names = compiled.model, compiled.names
    touching = np.asarray(model.geom_contype) | np.asarray(model.geom_conaffinity)
    moving = np.asarray(model.body_weldid)[model.geom_bodyid] != 0
    if not compiled.switched_off("CONTACT") and (touching * moving).any():
        yield f"contacts of {np.count_nonzero(touching)} geoms"
    kinds = compiled.mujoco.mjtJoint
    balls = [
        name
        for j, name in enumerate(names.joints)
        if int(model.jnt_type[j]) == kinds.mjJNT_BALL and model.jnt_limited[j]
    ]
    if balls:
        yield f"ranges of ball joints {some_of([*map(repr, balls)])}"
    held = np.asarray(model.jnt_actgravcomp) * np.any(model.body_gravcomp)
    if held.any():
        motors = some_of([repr(names.joints[j]) for j in np.flatnonzero(held)])
        yield f"that the motors of {motors} exert the gravcomp (actuatorgravcomp)"
    if model.nsensor:
        yield f"{model.nsensor} sensors"
    moved = [names.bodies[body] for body in np.flatnonzero(np.asarray(model.body_mocapid) >= 0)]
    if moved:
        yield f"mocap bodies {some_of([*map(repr, moved)])}, which stand still here"


#: What MuJoCo calls a model without a name.
UNNAMED = "MuJoCo Model"


def read_mjcf(
    text: str, file: str | None = None
) -> tuple[Mechanism, list[RobodynError], list[UrdfWarning]]:
    """Read MJCF.

    What acts on bodies and has no counterpart is left out, each with a problem. Raises `UrdfError`
    if MuJoCo cannot read it, `MissingExtraError` if MuJoCo is not installed.

    file, optional: Where it stands; MuJoCo reads it from there, with what it includes.
    """
    compiled, notes = compiled_model(text, file)
    motors, passive = Motors(compiled), Passive.of(compiled)
    bodies = Bodies(compiled, passive, motors.efforts)
    equalities = Equalities(compiled, bodies.joints)
    related = equalities.related
    own = {joint.name for joint in related.joints if joint.nv and joint.mimic is None}
    tendons = Tendons(compiled, passive, motors.of_tendons, related)
    driven = on_moving_joints(motors.actuators, related.joints)
    joints = (*related.joints, *tendons.joints)
    mechanism = Mechanism(
        _name(compiled.model, file),
        (*bodies.links, *tendons.links),
        tuple(tendons.with_efforts(joints, (name for name, _ in driven))),
        tuple(equalities.loops),
        actuators=on_moving_joints((*driven, *tendons.actuators), joints),
        file=file,
        link_elements=(*tendons.springs, *body_forces(compiled)),
        start=tuple(x for x in bodies.start if x[0] in own),
        followers=(*related.followers, *tendons.followers),
    )
    refused = [(f"equality {name!r}", why) for name, why in equalities.refused.items()]
    refused += [(f"tendon {name!r}", why) for name, why in tendons.refused.items()]
    refused += _unmodelled(compiled)
    problems: list[RobodynError] = [
        UrdfError(why, file=file, element=element, leniently="left out") for element, why in refused
    ]
    parts = [*_left_out_of(compiled), *_without_effect(motors, tendons, equalities)]
    notes += [f"MJCF without counterpart, left out: {'; '.join(parts)}"] if parts else []
    warnings = [UrdfWarning(note, file=file) for note in notes]
    off = compiled.switched_off("GRAVITY")
    gravity = tuple(0.0 if off else float(g) for g in compiled.model.opt.gravity)
    if gravity != EARTH:
        shown = ", ".join(f"{g:g}" for g in gravity)
        warnings.append(
            UrdfWarning(
                f"gravity of the file is ({shown}) m/s^2, which is not read: give it as "
                f"gravity=({shown})",
                file=file,
                element="<option>",
            )
        )
    return mechanism, problems, warnings


def _without_effect(motors: Motors, tendons: Tendons, equalities: Equalities) -> Iterator[str]:
    """What does nothing where nobody drives it."""
    for what, names in (
        ("limits of tendons", tendons.limited),
        ("actuators that drive no single joint:", motors.elsewhere),
        ("how these actuators follow their controls:", motors.controlled),
        ("limits that differ by direction (the larger is taken) of", motors.one_sided),
        ("inactive equality constraints", equalities.inactive),
    ):
        if names:
            yield f"{what} {some_of([*map(repr, names)])}"


def _name(model: Any, file: str | None) -> str:
    """Name of the model, or of its file."""
    name = bytes(model.names).split(b"\0", 1)[0].decode()
    if name and name != UNNAMED:
        return name
    return "robot" if file is None else Path(file).stem
