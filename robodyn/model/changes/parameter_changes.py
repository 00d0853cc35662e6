"""A description with other parameters of its bodies, motors and joints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import number
from robodyn.description import Actuator, Inertia, Joint, Link, Loop, Mechanism, Rotor
from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.quantities.regressors import MOTOR_FRICTION, RESISTANCES, motor_parameters
from robodyn.equations.tree.regressor import PARAMETERS, body_link, parameters_of
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.model.model import Model
from robodyn.model.windings import with_drives
from robodyn.tolerances import WHOLE_LINK

Resisting = TypeVar("Resisting", Joint, Loop, Rotor)


def with_parameters(model: Model, given: Mapping[str, float]) -> Mechanism:
    """A description in which some parameters have other values.

    given: As `Robot.dynamic_parameter_names` has them.
    """
    if not given:
        return model.mechanism
    old = parameters_before(model, given)
    new = {name: number(f"parameters[{name!r}]", x) for name, x in given.items()}
    for name, x in new.items():
        if not np.isfinite(x):
            raise SettingsError(f"parameters[{name!r}] is {x}, expected a finite number")
    different = {name: x for name, x in new.items() if x != old[name]}
    of_bodies = {x.rpartition(".")[0] for x in different if x.rpartition(".")[2] in PARAMETERS}
    mechanism = model.mechanism
    for body in model.bodies if of_bodies else ():
        link = body_link(model.bodies, body)
        if link in of_bodies:
            names = [f"{link}.{name}" for name in PARAMETERS]
            ten = np.array([different.get(name, old[name]) for name in names])
            mechanism = _with_body(model, mechanism, body, ten)
    beside = {name: x for name, x in different.items() if name.rpartition(".")[2] not in PARAMETERS}
    return _with_resistances(mechanism, beside) if beside else mechanism


def _with_resistances(mechanism: Mechanism, given: Mapping[str, float]) -> Mechanism:
    """Joints, cut ones, free rotors and motors with other inertia and friction."""
    motors, driven = dict(mechanism.actuators), with_drives(mechanism)
    own = {x.joint: x.motor for x in driven.gear_springs}
    windings = {x.motor: x.winding for x in driven.windings}
    for name, motor in motors.items():
        turned = own.get(name, name)
        changed: dict[str, Any] = {
            x: given[f"{turned}.{x}"]
            for x in ("rotor_inertia", *MOTOR_FRICTION)
            if f"{turned}.{x}" in given
        }
        if turned != name:
            changed |= _of_motor_joint(motor, turned, given)
        if turned in windings:
            changed |= _of_winding(motor, windings[turned], given)
        motors[name] = dataclasses.replace(motor, **changed) if changed else motor
    coupled = {name for x in mechanism.transmissions for name in x.joints}
    resisting = {x.rpartition(".")[0] for x in given if x.rpartition(".")[2] in RESISTANCES}
    joints = list(mechanism.joints)
    for k, joint in enumerate(joints):
        if f"{joint.name}.armature" in given:
            armature = given[f"{joint.name}.armature"]
            joints[k] = joint = dataclasses.replace(joint, armature=armature)
        if joint.name in resisting:
            apart = joint.name in coupled or joint.name in own
            beside = None if apart else motors.get(joint.name)
            joints[k], driving = _with_resistance(joint, beside, given)
            motors |= {} if driving is None else {joint.name: driving}
    return dataclasses.replace(
        mechanism,
        joints=tuple(joints),
        loops=tuple(_with_resistance(loop, None, given)[0] for loop in mechanism.loops),
        rotors=tuple(_with_resistance(rotor, None, given)[0] for rotor in mechanism.rotors),
        actuators=tuple(motors.items()),
    )


def _of_motor_joint(motor: Actuator, joint: str, given: Mapping[str, float]) -> dict[str, Any]:
    """Fields of a motor by parameters of the joint that it has behind an elastic gear."""
    if given.get(f"{joint}.armature"):
        raise SettingsError(
            f"the inertia of joint {joint!r} is that of a rotor behind a gear: give "
            f"'{joint}.rotor_inertia'"
        )
    ratios = {
        "damping": ("viscous", motor.gear_ratio**2),
        "friction": ("coulomb", motor.gear_ratio),
    }
    names = {x: f"{joint}.{x}" for x in ratios}
    return {
        field: given[names[x]] / abs(ratio)
        for x, (field, ratio) in ratios.items()
        if names[x] in given
    }


def _of_winding(motor: Actuator, winding: str, given: Mapping[str, float]) -> dict[str, Any]:
    """The electric motor by parameters of its winding, a joint of its own."""
    if given.get(f"{winding}.friction"):
        raise SettingsError(f"{winding!r} is the winding of a motor, which has no dry friction")
    fields = {"armature": "inductance", "damping": "resistance"}
    changed: dict[str, Any] = {
        y: given[f"{winding}.{x}"] for x, y in fields.items() if f"{winding}.{x}" in given
    }
    return {"motor": dataclasses.replace(motor.motor, **changed)} if changed and motor.motor else {}


def parameters_before(model: Model, given: Iterable[str]) -> dict[str, float]:
    """Parameters of a model by name: those that are to be changed, and all others of their bodies.

    Raises UnknownNameError: For a name that is none of them.
    """
    bodies = {body_link(model.bodies, body): body for body in model.bodies}
    beside, old = motor_parameters(model.setup), dict[str, float]()
    for name in given:
        link, _, number_of = name.rpartition(".")
        if name in old:
            continue
        if link in bodies and number_of in PARAMETERS:
            ten = _numbers(model, bodies[link]).tolist()
            old |= {f"{link}.{x}": y for x, y in zip(PARAMETERS, ten, strict=True)}
        elif name in beside:
            old[name] = beside[name]
        else:
            known = (*(f"{link}.{x}" for link in bodies for x in PARAMETERS), *beside)
            raise UnknownNameError("parameter", name, known, repr(model.mechanism.name))
    return old


def changeable_bodies(model: Model) -> tuple[str, ...]:
    """Bodies whose parameters can be set, by name.

    These are all but free rotors, links that carry them, and halves of links.
    """
    return tuple(body_link(model.bodies, x) for x in model.bodies if _is_changeable(model, x))


def _is_changeable(model: Model, body: Body) -> bool:
    name, links = body_link(model.bodies, body), _links_of(model, body)
    drawn = {link.name for link in links}
    if name not in drawn or not drawn.isdisjoint(rotor.link for rotor in model.mechanism.rotors):
        return False
    mass = sum(link.inertia.mass for link in links if link.inertia is not None)
    own: float = body.inertia.m  # type: ignore[assignment]  # known
    return abs(own - mass) <= WHOLE_LINK * abs(mass)


def refuse_unchangeable(model: Model, body: Body) -> None:
    """Check that the parameters of a body can be set."""
    if not _is_changeable(model, body):
        raise SettingsError(
            f"{body_link(model.bodies, body)!r} of {model.mechanism.name!r} is a free rotor, "
            "carries one, or is a link that is cut in two to close a loop: its parameters cannot "
            "be set"
        )


def _links_of(model: Model, body: Body) -> list[Link]:
    """Links of the description that a body consists of."""
    frames = model.bodies.frames
    links = model.mechanism.links
    return [x for x in links if x.name in frames and frames[x.name][0] == body.index]


def _numbers(model: Model, body: Body) -> FloatArray:
    ten: list[Any] = parameters_of(model.bodies, body)
    return np.array(ten, float)


def inertia_from(ten: FloatArray) -> Inertia | None:
    """Inertia from ten parameters about a link's origin; ``None`` if all are zero.

    Raises SettingsError: If there is a first moment or an inertia without a mass.
    """
    if not ten.any():
        return None
    m, h = float(ten[0]), ten[1:4]
    if m == 0.0:
        raise SettingsError(f"a body without mass has moments {ten[1:].tolist()}")
    xx, xy, yy, xz, yz, zz = ten[4:]
    c = h / m
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia.from_matrix(m, c, J - m * (c @ c * np.eye(3) - np.outer(c, c)))


def _with_body(model: Model, mechanism: Mechanism, body: Body, ten: FloatArray) -> Mechanism:
    """Set the parameters of a body: its link gets all mass, and links fixed to it get none."""
    name = body_link(model.bodies, body)
    refuse_unchangeable(model, body)
    beside = {link.name for link in _links_of(model, body)} - {name}
    inertia = inertia_from(ten)

    def changed(link: Link) -> Link:
        if link.name == name:
            return dataclasses.replace(link, inertia=inertia)
        return dataclasses.replace(link, inertia=None) if link.name in beside else link

    return dataclasses.replace(mechanism, links=tuple(map(changed, mechanism.links)))


def _with_resistance(
    joint: Resisting, motor: Actuator | None, given: Mapping[str, float]
) -> tuple[Resisting, Actuator | None]:
    """A joint and its motor with a given sum of friction.

    The friction of the motor stays the same, as far as the sum allows.
    """
    own: dict[str, float] = {"damping": joint.damping, "friction": joint.friction}
    if motor is None:
        own |= {k: given[f"{joint.name}.{k}"] for k in own if f"{joint.name}.{k}" in given}
        return dataclasses.replace(joint, damping=own["damping"], friction=own["friction"]), None
    at_motor = {"damping": motor.viscous, "friction": motor.coulomb}
    ratios = {"damping": motor.gear_ratio**2, "friction": abs(motor.gear_ratio)}
    for k, ratio in ratios.items():
        total = given.get(f"{joint.name}.{k}")
        if total is not None:
            own[k] = total - ratio * at_motor[k]
            if own[k] < 0.0 and ratio:
                own[k], at_motor[k] = 0.0, total / ratio
    motor = dataclasses.replace(motor, viscous=at_motor["damping"], coulomb=at_motor["friction"])
    return dataclasses.replace(joint, damping=own["damping"], friction=own["friction"]), motor
