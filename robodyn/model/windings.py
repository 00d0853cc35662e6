"""Windings in the model: the current of a motor that is commanded by voltage is a speed.

The charge that has passed is the coordinate of a joint that moves nothing: its armature is the
inductance, its damping the resistance, and the force along it the voltage at the terminals. The
current turns the motor by its torque constant, which in turn takes the back-EMF from the voltage.
"""

from __future__ import annotations

import dataclasses
import math

from robodyn.description import Actuator, Joint, Limits, Link, Mechanism
from robodyn.description.drive import WindingCurrent
from robodyn.errors import ActuationError, TopologyError
from robodyn.joints import continuous
from robodyn.model.elastic_gears import with_elastic_gears

#: What is added to the name of a joint for that of its winding.
WINDING = "_winding"


def with_drives(mechanism: Mechanism) -> Mechanism:
    """The description with joints for motors behind elastic gears, and for windings.

    Raises ActuationError, TopologyError: If one cannot be, or a name is taken.
    """
    return with_windings(with_elastic_gears(mechanism))


def motors_of(mechanism: Mechanism) -> dict[str, Actuator]:
    """Motors by the joint that gets their commands.

    Behind an elastic gear it is one of their own, and so it is for a command by voltage.
    """
    given = with_drives(mechanism)
    windings = {x.motor: x.winding for x in given.windings}
    motors = {}
    for name, motor in given.actuators:
        if name in windings:
            electric = motor.motor
            assert electric is not None
            volts = math.inf if electric.voltage is None else electric.voltage
            electric = dataclasses.replace(electric, voltage=None, current=None)
            motor = Actuator(torque_limit=volts, name=motor.name, motor=electric)
        motors[windings.get(name, name)] = motor
    return motors


def with_windings(mechanism: Mechanism) -> Mechanism:
    """The description with a joint for each winding; itself where no voltage is a command."""
    chosen = [(name, x) for name, x in mechanism.actuators if x.command == "voltage"]
    if not chosen:
        return mechanism
    joints = {x.name: x for x in mechanism.joints}
    taken = {*joints, *(x.name for x in mechanism.links), *(x.name for x in mechanism.loops)}
    taken |= {x.name for x in mechanism.rotors}
    coupled = {joint: x.name for x in mechanism.transmissions for joint in x.joints}
    behind = {x.motor: x.joint for x in mechanism.gear_springs}
    added, windings = [], []
    for name, motor in chosen:
        joint = joints.get(name)
        described = behind.get(name, name)
        _check(described, motor, joint, coupled.get(name))
        assert joint is not None and motor.motor is not None
        own, electric = described + WINDING, motor.motor
        if own in taken:
            raise TopologyError(
                f"the name {own!r} is taken, and the winding of the motor of {described!r}, which "
                "is commanded by voltage, is to have it; rename the other",
                file=mechanism.file,
            )
        volts = math.inf if electric.voltage is None else electric.voltage
        added.append(
            Joint(
                own, continuous.KIND.name, joint.parent, own, limits=Limits(effort=volts),
                damping=electric.resistance, armature=electric.inductance,
            )
        )  # fmt: skip
        windings.append(WindingCurrent(own, name, motor.gear_ratio, electric.torque_constant))
    return dataclasses.replace(
        mechanism,
        links=(*mechanism.links, *(Link(x.name) for x in added)),
        joints=(*mechanism.joints, *added),
        windings=tuple(windings),
    )


def _check(name: str, motor: Actuator, joint: Joint | None, coupled: str | None) -> None:
    problem = ""
    if motor.motor is None:
        problem = "no motor=: give an rd.Motor"
    elif not motor.motor.inductance:
        problem = "a motor with inductance=0: its current is no state; give the inductance"
    elif joint is None or (joint.nq, joint.nv) != (1, 1):
        problem = "a joint that has not one degree of freedom, or is locked or cut"
    elif coupled:
        problem = f"transmission {coupled!r}, which couples its motor to others"
    elif not motor.gear_ratio:
        problem = "gear_ratio=0"
    if problem:
        raise ActuationError(
            f"the motor of joint {name!r} is commanded by voltage, with {problem}", direction=name
        )
