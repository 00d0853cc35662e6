"""A document in MJCF as a description, with all that cannot be part of it.

What acts on the bodies whatever happens and has no counterpart is a problem; what acts in contacts,
or when it is driven, is left out with a warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.description import Actuator, Joint, Mechanism, Motor
from robodyn.errors import RobodynError, UrdfError, UrdfWarning, some_of
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.stokes_drag import StokesDrag
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.urdf.mjcf.bodies import Bodies
from robodyn.urdf.mjcf.compiled import compiled_model
from robodyn.urdf.mjcf.equalities import Equalities, Tendons
from robodyn.urdf.mjcf.model import CompiledModel, Passive, vector

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
        ("delays of the controls of", motors.delayed),
        (
            "limits that differ by direction (the larger is taken) of",
            [*motors.one_sided, *tendons.one_sided],
        ),
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


def body_forces(compiled: CompiledModel) -> Iterator[DescribedElement]:
    """The ``gravcomp`` of each body, and what the viscosity of the medium is to it."""
    model, names = compiled.model, compiled.names
    viscosity = float(model.opt.viscosity)
    shaped = _of_shape(model)
    for body, name in enumerate(names.bodies):
        mass, center = float(model.body_mass[body]), vector(model.body_ipos[body])
        held = mass * float(model.body_gravcomp[body])
        if held > 0.0:
            yield WeightCompensation(name, center, held, f"gravcomp of {name}")
        if viscosity and mass and body not in shaped:
            # of the sphere that MuJoCo takes: the mean edge of the box with the body's inertia [m]
            moments = np.array(model.body_inertia[body])
            squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
            diameter = float(np.sqrt(np.maximum(squares, 0.0)).mean())
            yield StokesDrag(name, center, diameter, viscosity, f"viscosity on {name}")


def unread_of_medium(compiled: CompiledModel) -> Iterator[tuple[str, str]]:
    """What a medium does that has no counterpart: the element, and why."""
    model, names = compiled.model, compiled.names
    if model.opt.density:
        yield (
            "<option>",
            "the density of a medium, whose drag grows with the square of the speed, has no "
            "counterpart; its viscosity has one",
        )
    if model.opt.viscosity and np.any(model.opt.wind):
        yield "<option>", "wind has no counterpart: the medium is at rest"
    for body in sorted(_of_shape(model)) if model.opt.viscosity or model.opt.density else ():
        reason = "the forces of a medium by the shape of a geom (fluidshape) have no counterpart"
        yield f"body {names.bodies[body]!r}", reason


def _of_shape(model: Any) -> set[int]:
    """Bodies on which the medium acts by the shapes of their geoms."""
    by_shape = np.asarray(model.geom_fluid)[:, :1].ravel() > 0.0
    return {int(body) for body in np.asarray(model.geom_bodyid)[by_shape]}


class Motors:
    """Motors by joint, and what actuators are beside that.

    of_tendons: Those of fixed tendons, with their gear ratios to these.
    efforts: Limits of what drives each joint, by its number.
    delayed: Actuators whose controls act later.
    elsewhere: Actuators that drive no single joint and no fixed tendon: sites, balls, bodies,
        cables.
    controlled: Actuators whose force follows from the state: servos, muscles, dampers.
    one_sided: Actuators that pull stronger than they push, or the other way round.
    """

    def __init__(self, compiled: CompiledModel) -> None:
        model, names = compiled.model, compiled.names
        self.delayed: list[str] = []
        self.elsewhere: list[str] = []
        self.controlled: list[str] = []
        self.one_sided: list[str] = []
        found: dict[int, list[Actuator]] = {}
        self.of_tendons: dict[int, list[Actuator]] = {}
        for k, name in enumerate(names.actuators):
            single = compiled.drives_joint(k)
            if not (single or compiled.drives_fixed_tendon(k)):
                self.elsewhere.append(name)
            elif gear := compiled.gear_of(k):
                motors = found if single else self.of_tendons
                at = int(model.actuator_trnid[k, 0])
                electric = _electric_motor(compiled, k)
                if single and electric is not None and _takes_voltage(compiled, k, electric):
                    motor = Actuator(gear, name=name, motor=electric, command="voltage")
                else:
                    limit = self._limit(compiled, k, name)
                    motor = Actuator(gear, torque_limit=limit, name=name, motor=electric)
                motors.setdefault(at, []).append(motor)
                if compiled.own("actuator_delay", k):
                    self.delayed.append(name)
        for several in (x for x in found.values() if len(x) > 1):
            self.controlled += [x.name for x in several if x.command == "voltage"]
        together = {joint: _combined(motors) for joint, motors in found.items()}
        self.actuators = tuple((names.joints[j], motor) for j, motor in sorted(together.items()))
        self.efforts = {
            j: abs(motor.gear_ratio) * motor.torque_limit for j, motor in together.items()
        }
        for j in range(model.njnt):
            if model.jnt_actfrclimited[j]:
                low, high = model.jnt_actfrcrange[j]
                limit = float(max(abs(low), abs(high)))
                if not math.isclose(-low, high):
                    self.one_sided.append(names.joints[j])
                self.efforts[j] = min(limit, self.efforts.get(j, math.inf))

    def _limit(self, compiled: CompiledModel, k: int, name: str) -> float:
        """Largest force of an actuator."""
        mujoco, model = compiled.mujoco, compiled.model
        ranges, kinds = [], mujoco.mjtDyn
        plain = (
            int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
            and int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_NONE
        )
        dynamics, gain = int(model.actuator_dyntype[k]), model.actuator_gainprm[k, 0]
        if not plain or dynamics != kinds.mjDYN_NONE:
            self.controlled.append(name)
        control = compiled.first_control_of(k)
        lagging = (kinds.mjDYN_NONE, kinds.mjDYN_FILTER, kinds.mjDYN_FILTEREXACT)
        if plain and dynamics in lagging and model.actuator_ctrllimited[control]:
            ranges.append(gain * model.actuator_ctrlrange[control])
        if plain and model.actuator_actlimited[k]:
            ranges.append(gain * model.actuator_actrange[k])
        if model.actuator_forcelimited[k]:
            ranges.append(model.actuator_forcerange[k])
        if any(not math.isclose(-low, high) for low, high in ranges):
            self.one_sided.append(name)
        return min((float(np.abs(x).max()) for x in ranges), default=math.inf)


def _electric_motor(compiled: CompiledModel, k: int) -> Motor | None:
    """The electric motor of a `<dcmotor>`; the range of its control is that of its voltage."""
    model, kinds = compiled.model, compiled.mujoco.mjtGain.__members__
    if int(model.actuator_gaintype[k]) != int(kinds.get("mjGAIN_DCMOTOR", -1)):
        return None
    resistance, constant, *others = map(float, model.actuator_gainprm[k])
    control, by_voltage = compiled.first_control_of(k), not any(others[2:5])
    limited = by_voltage and bool(model.actuator_ctrllimited[control])
    voltage = float(np.abs(model.actuator_ctrlrange[control]).max()) if limited else None
    inductance = float(model.actuator_dynprm[k, 0]) * resistance
    return Motor(constant, resistance, inductance=inductance, voltage=voltage)


def _takes_voltage(compiled: CompiledModel, k: int, motor: Motor) -> bool:
    """Whether the control of a motor is its voltage, and nothing but its current is its state."""
    model = compiled.model
    more = [
        *model.actuator_gainprm[k, 2:],
        *model.actuator_biasprm[k],
        *model.actuator_dynprm[k, 1:],
    ]
    low, high = model.actuator_ctrlrange[compiled.first_control_of(k)]
    plain = not (any(more) or model.actuator_forcelimited[k]) and math.isclose(-low, high)
    return bool(plain and motor.inductance)


def on_moving_joints(
    motors: Iterable[tuple[str, Actuator]], joints: Iterable[Joint]
) -> tuple[tuple[str, Actuator], ...]:
    """One motor for each joint that has some, none for fixed joints."""
    moving = {joint.name for joint in joints if joint.nv}
    found: dict[str, list[Actuator]] = {}
    for name, motor in motors:
        if name in moving:
            found.setdefault(name, []).append(motor)
    return tuple((name, _combined(alike)) for name, alike in found.items())


def _combined(motors: list[Actuator]) -> Actuator:
    """All motors of one joint, as one."""
    first, *others = motors
    if not others:
        return first
    effort = sum(abs(motor.gear_ratio) * motor.torque_limit for motor in motors)
    name = " ".join(motor.name for motor in motors)
    return Actuator(first.gear_ratio, torque_limit=effort / abs(first.gear_ratio), name=name)
