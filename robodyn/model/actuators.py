"""Motors in the model: rotors on the links that carry them, friction on the motor side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from robodyn.description import Actuator, Inertia, Joint, Link, Mechanism, Rotor, Transmission
from robodyn.description.actuation import NUMBERS
from robodyn.description.coupled_motors import motor_ratios
from robodyn.equations.mechanism.bodies import Drive
from robodyn.errors import ActuationError, InertiaError, TopologyError, UnknownNameError
from robodyn.joints import continuous


def with_motors(mechanism: Mechanism) -> Mechanism:
    """The description with the friction of motors added to that of their joints.

    A motor that turns ``gear_ratio`` times as fast as its joint adds ``gear_ratio^2`` times its
    viscous and ``gear_ratio`` times its dry friction to the joint. Motors that transmissions couple
    to several joints are left out, as their friction is not that of one joint.

    Raises ActuationError: If a joint with several freedoms has a motor with rotor or friction.
    """
    motors = dict(mechanism.actuators)
    coupled = {name for x in mechanism.transmissions for name in x.joints}
    joints = []
    for joint in mechanism.joints:
        motor = None if joint.name in coupled else motors.get(joint.name)
        if (
            motor is not None
            and joint.nv
            and (motor.viscous or motor.coulomb or motor.rotor_inertia)
        ):
            if (joint.nq, joint.nv) != (1, 1):
                raise ActuationError(
                    f"joint {joint.name!r} of {mechanism.name!r} is {joint.kind}: a motor with a "
                    "rotor or friction drives a joint with one degree of freedom",
                    direction=joint.name,
                )
            joint = dataclasses.replace(
                joint,
                damping=joint.damping + motor.gear_ratio**2 * motor.viscous,
                friction=joint.friction + abs(motor.gear_ratio) * motor.coulomb,
            )
        joints.append(joint)
    return dataclasses.replace(mechanism, joints=tuple(joints))


def with_free_rotors(mechanism: Mechanism) -> Mechanism:
    """The description with free rotors as links, whose inertia is subtracted from their carriers.

    Raises UnknownNameError: If a rotor's link does not exist.
    Raises InertiaError: If a rotor is heavier about its axis than the link that counts it.
    Raises TopologyError: If its name is taken.
    """
    links = {link.name: link for link in mechanism.links}
    joints = list(mechanism.joints)
    taken = {joint.name for joint in joints}
    for rotor in mechanism.rotors:
        if rotor.link not in links:
            raise UnknownNameError("link", rotor.link, links, f"rotor {rotor.name!r}")
        if rotor.name in taken or rotor.name in links:
            raise TopologyError(
                "the name is taken by a link or joint; rename the rotor",
                file=mechanism.file,
                element=f"rotor {rotor.name!r}",
            )
        taken.add(rotor.name)
        u = np.array(rotor.axis, float) / np.linalg.norm(rotor.axis)
        spinning = rotor.inertia * np.outer(u, u)
        links[rotor.link] = _without(mechanism, links[rotor.link], spinning, rotor, u)
        links[rotor.name] = Link(rotor.name, Inertia.from_matrix(0.0, np.zeros(3), spinning))
        axis = (float(u[0]), float(u[1]), float(u[2]))
        bearing = Joint(rotor.name, continuous.KIND.name, rotor.link, rotor.name, axis=axis)
        resisting = dataclasses.replace(bearing, damping=rotor.damping, friction=rotor.friction)
        joints.append(resisting)
    return dataclasses.replace(
        mechanism, links=tuple(links.values()), joints=tuple(joints), rotors=()
    )


def _without(mechanism: Mechanism, link: Link, spinning: Any, rotor: Rotor, u: Any) -> Link:
    """A link without the inertia of a rotor that it carries."""
    own = link.inertia
    if own is None or not rotor.inertia <= u @ _central(own) @ u:
        raise InertiaError(
            f"the inertia {rotor.inertia:g} kg m^2 of rotor {rotor.name!r} about its axis is more "
            f"than that of the link that carries it: the link's inertia counts its rotors",
            **mechanism.where(link),
        )
    inertia = Inertia.from_matrix(own.mass, own.origin.xyz, _central(own) - spinning)
    return dataclasses.replace(link, inertia=inertia)


def _central(inertia: Inertia) -> Any:
    R = inertia.origin.matrix[:3, :3]
    return R @ inertia.matrix @ R.T


def rotor_drives(mechanism: Mechanism, *, exact: bool) -> tuple[Drive, ...]:
    """Rotor of each motor.

    exact: With carrier and axis; else only the inertia reflected to the joint.
    Raises ActuationError: If a motor is mounted away from its joint and its axis is not given.
    Raises UnknownNameError: If it is mounted on a link that does not exist.
    """
    joints = {joint.name: joint for joint in mechanism.joints}
    ratios, drives = motor_ratios(mechanism), []
    for name, motor in mechanism.actuators:
        _check_values(name, motor)
        _check_gear(name, motor)
        if name not in joints:  # it closed a loop, and is locked
            continue
        joint = joints[name]
        known = motor.rotor_inertia or _placed(mechanism, motor, joint)
        if known and any(joints[turned].nv for turned, _ in ratios[name]):
            carrier = motor.mounted_on or joint.parent
            links = [link.name for link in mechanism.links]
            if carrier not in links:
                raise UnknownNameError("link", carrier, links, f"the motor of {name!r}")
            axis = _axis(mechanism, motor, joint, carrier)
            where = carrier if exact else None
            drives.append(Drive(name, ratios[name], motor.rotor_inertia, where, axis))
    return tuple(drives)


def with_rotor_axes(mechanism: Mechanism, joints: Container[str]) -> Mechanism:
    """The description with explicit axes of rotors that still turn after joints are welded."""
    coupled = {name for x in mechanism.transmissions for name in x.joints}
    described = {joint.name: joint for joint in mechanism.joints}
    actuators = []
    for name, motor in mechanism.actuators:
        if name in joints and name in coupled and motor.rotor_inertia and motor.axis is None:
            joint = described[name]
            axis = _axis(mechanism, motor, joint, motor.mounted_on or joint.parent)
            motor = dataclasses.replace(motor, axis=axis)
        actuators.append((name, motor))
    return dataclasses.replace(mechanism, actuators=tuple(actuators))


def _placed(mechanism: Mechanism, motor: Actuator, joint: Joint) -> bool:
    """Whether carrier and axis of a motor's rotor are known, if the rotor has no inertia."""
    links = {link.name for link in mechanism.links}
    carrier = motor.mounted_on or joint.parent
    directed = carrier in (joint.parent, joint.child) if motor.axis is None else any(motor.axis)
    return (joint.nq, joint.nv) == (1, 1) and carrier in links and directed


def _axis(
    mechanism: Mechanism, motor: Actuator, joint: Joint, carrier: str
) -> tuple[float, float, float]:
    """Unit vector along the rotor in the axes of the carrier."""
    if motor.axis is not None:
        u = np.array(motor.axis, float)
        length = float(np.linalg.norm(u))
        if not np.isfinite(length) or length < 1e-12:
            raise ActuationError(
                f"the rotor axis of the motor of {joint.name!r} is {motor.axis}, expected three "
                "numbers that are not all zero",
                direction=motor.axis,
            )
        u = u / length
    elif carrier == joint.parent:
        u = joint.origin.matrix[:3, :3] @ np.array(joint.axis)
    elif carrier == joint.child:
        u = np.array(joint.axis)
    else:
        raise ActuationError(
            f"the motor of joint {joint.name!r} of {mechanism.name!r} is mounted on {carrier!r}, "
            "which the joint does not move directly: give the rotor's axis in the axes of that "
            "link",
            direction=joint.name,
        )
    return float(u[0]), float(u[1]), float(u[2])


def _check_values(name: str, motor: Actuator) -> None:
    """Check the parameters of a motor."""
    least = {**dict.fromkeys(NUMBERS, 0.0), "gear_ratio": -np.inf}
    given = {key: getattr(motor, key) for key in least}
    wrong = [f"{x}={y}" for x, y in given.items() if not (math.isfinite(y) and y >= least[x])]
    if not motor.torque_limit >= 0.0:
        wrong.append(f"torque_limit={motor.torque_limit}")
    if wrong:
        raise ActuationError(
            f"the motor of joint {name!r} has {', '.join(wrong)}: expected finite numbers, and "
            "inertia, friction and torque limit that are not negative",
            direction=name,
        )


def _check_gear(name: str, motor: Actuator) -> None:
    """Check how much power a gear loses, and that a torque at rest moves something."""
    problem, back = "", motor.backward_efficiency
    if not 0.0 < motor.efficiency <= 1.0:
        problem = f"efficiency={motor.efficiency}, expected a share of power above 0, 1 at most"
    elif back is not None and not 0.0 <= back <= 1.0:
        problem = f"backward_efficiency={back}, expected a share of power from 0 to 1"
    elif motor.driven_efficiency == 0.0 and not motor.rotor_inertia:
        problem = (
            "a gear that no load turns (backward efficiency 0) and rotor_inertia=0: what moves it "
            "is not determined; give the inertia of the rotor"
        )
    elif not motor.gear_ratio and not motor.lossless:
        problem = "a gear that loses power, with gear_ratio=0"
    if problem:
        raise ActuationError(f"the motor of joint {name!r} has {problem}", direction=name)


def torques_of_coupled(
    coupling: Transmission,
    motor: str,
    ratios: Mapping[str, tuple[tuple[str, float], ...]],
    joints: Mapping[str, Joint],
) -> list[tuple[str, float]]:
    """Joints whose forces make the torque of a motor of a transmission, each with its factor.

    Raises ActuationError: If one of the joints does not move.
    """
    names = coupling.joints
    for name in names:
        if name not in joints or not joints[name].nv:
            raise ActuationError(
                f"the gear of {motor!r} loses power, and joint {name!r} of its transmission "
                f"{coupling.name!r} does not move: give its motor no losses",
                direction=name,
            )
    matrix = np.array([[dict(ratios[name]).get(x, 0.0) for x in names] for name in names])
    row = np.linalg.inv(matrix)[:, names.index(motor)]
    return [(name, float(x)) for name, x in zip(names, row, strict=True) if x]
