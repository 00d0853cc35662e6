"""A document in MJCF as a description, with all that cannot be part of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from robodyn.description import Mechanism
from robodyn.errors import RobodynError, UrdfError, UrdfWarning
from robodyn.urdf.mjcf.bodies import Bodies
from robodyn.urdf.mjcf.body_forces import body_forces
from robodyn.urdf.mjcf.compiled import compiled
from robodyn.urdf.mjcf.equalities import Equalities
from robodyn.urdf.mjcf.fixed_tendons import FixedTendons
from robodyn.urdf.mjcf.motors import Motors, on_independent_joints
from robodyn.urdf.mjcf.names import Names
from robodyn.urdf.mjcf.no_counterpart import EARTH, gravity_of, left_out, some_of, unmodelled
from robodyn.urdf.mjcf.passive import Passive
from robodyn.urdf.mjcf.tendons import Tendons

__all__ = ["read_mjcf"]

#: What MuJoCo calls a model without a name.
UNNAMED = "MuJoCo Model"


def read_mjcf(
    text: str, file: str | None = None
) -> tuple[Mechanism, list[RobodynError], list[UrdfWarning]]:
    """Read MJCF.

    Parameters
    ----------
    text : str
    file : str, optional
        Where it stands; MuJoCo reads it from there, with what it includes.

    Returns
    -------
    mechanism : Mechanism
    problems : list of RobodynError
        Of each thing that acts on bodies and has no counterpart; it is left out.
    warnings : list of UrdfWarning

    Raises
    ------
    UrdfError
        If MuJoCo cannot read it.
    MissingExtraError
        If MuJoCo is not installed.
    """
    mujoco, model, notes = compiled(text, file)
    names = Names(mujoco, model)
    motors, tendons = Motors(mujoco, model, names), Tendons(mujoco, model, names)
    passive = Passive.of(mujoco, model)
    bodies = Bodies(mujoco, model, names, passive, motors.efforts)
    equalities = Equalities(mujoco, model, names, bodies.joints)
    own = {joint.name for joint in equalities.joints if joint.nv and joint.mimic is None}
    related = equalities.joints, equalities.held
    slides = FixedTendons(mujoco, model, names, passive, motors.of_tendons, *related)
    driven = on_independent_joints(motors.actuators, equalities.joints)
    joints = (*equalities.joints, *slides.joints)
    mechanism = Mechanism(
        _name(model, file),
        (*bodies.links, *slides.links),
        tuple(slides.with_efforts(joints, (name for name, _ in driven))),
        tuple(equalities.loops),
        actuators=on_independent_joints((*driven, *slides.actuators), joints),
        file=file,
        link_elements=(*tendons.springs, *body_forces(model, names)),
        start=tuple(x for x in bodies.start if x[0] in own),
        followers=(*equalities.followers, *slides.followers),
    )
    refused = [(f"equality {name!r}", why) for name, why in equalities.refused.items()]
    refused += [(f"tendon {name!r}", why) for name, why in tendons.refused.items()]
    refused += unmodelled(mujoco, model, names)
    problems: list[RobodynError] = [
        UrdfError(why, file=file, element=element, leniently="left out") for element, why in refused
    ]
    parts = [*left_out(mujoco, model, names), *_idle(motors, tendons, equalities)]
    warnings = [UrdfWarning(one, file=file) for one in (*notes, *_left_out(parts))]
    gravity = gravity_of(mujoco, model)
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


def _idle(motors: Motors, tendons: Tendons, equalities: Equalities) -> Iterator[str]:
    """What does nothing where nobody drives it."""
    for what, names in (
        ("limits of tendons", tendons.limited),
        ("actuators that drive no single joint:", motors.elsewhere),
        ("how these actuators follow their controls:", motors.controlled),
        ("limits that differ by direction (the larger is taken) of", motors.one_sided),
        ("inactive equality constraints", equalities.inactive),
    ):
        if names:
            yield f"{what} {some_of(names)}"


def _left_out(parts: list[str]) -> list[str]:
    return [f"MJCF without counterpart, left out: {'; '.join(parts)}"] if parts else []


def _name(model: Any, file: str | None) -> str:
    """Name of the model, or of its file."""
    name = bytes(model.names).split(b"\0", 1)[0].decode()
    if name and name != UNNAMED:
        return name
    return "robot" if file is None else Path(file).stem
