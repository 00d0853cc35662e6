"""Windings and elastic gears in the model: drives with a coordinate of their own.

The current of a motor that is commanded by voltage is a speed. The charge that has passed is the
coordinate of a joint that moves nothing: its armature is the inductance, its damping the
resistance, and the force along it the voltage at the terminals. The current turns the motor by its
torque constant, which in turn takes the back-EMF from the voltage.

Behind an elastic gear the motor turns a joint of its own, which a spring ties to its joint. It is
of the same kind, at the same place and about the same axis, and moves no mass but the rotor behind
its gear: its coordinate is that of the gear's output.
"""

from __future__ import annotations

import dataclasses
import math

from robodyn.description import Actuator, Joint, Limits, Link, Mechanism
from robodyn.description.drive import GearSpring, WindingCurrent
from robodyn.errors import ActuationError, TopologyError
from robodyn.joints import continuous, revolute

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


#: What is added to the name of a joint for that of its motor.
SUFFIX = "_motor"


def with_elastic_gears(mechanism: Mechanism) -> Mechanism:
    """The description with a joint for each motor behind an elastic gear; itself without such.

    Raises ActuationError: If an elastic gear or backlash cannot be.
    Raises TopologyError: If a name is taken.
    """
    for name, motor in mechanism.actuators:
        _check_backlash(name, motor)
    elastic = {name: motor for name, motor in mechanism.actuators if motor.elastic}
    if not elastic:
        return mechanism
    joints, coupled = {x.name: x for x in mechanism.joints}, _coupled(mechanism)
    taken = {*joints, *(x.name for x in mechanism.links), *(x.name for x in mechanism.loops)}
    taken |= {x.name for x in mechanism.rotors}
    added, actuators, springs = [], [], []
    for name, motor in mechanism.actuators:
        if name not in elastic:
            actuators.append((name, motor))
            continue
        _check_elastic(name, motor, joints.get(name), coupled)
        own = name + SUFFIX
        if own in taken:
            raise TopologyError(
                f"the name {own!r} is taken, and the motor of {name!r} behind its elastic gear is "
                "to have it; rename the other",
                file=mechanism.file,
            )
        joint = joints[name]
        added.append(_of_motor(joint, own))
        carrier = motor.mounted_on or joint.parent
        rigid = dataclasses.replace(motor, elastic=None, backlash=0.0, mounted_on=carrier)
        if carrier == joint.child and motor.axis is None:
            rigid = dataclasses.replace(rigid, axis=joint.axis)
        actuators.append((own, rigid))
        assert motor.elastic is not None
        springs.append(GearSpring(own, name, motor.elastic, motor.backlash))
    return dataclasses.replace(
        mechanism,
        links=(*mechanism.links, *(Link(x.name) for x in added)),
        joints=(*mechanism.joints, *added),
        actuators=tuple(actuators),
        gear_springs=tuple(springs),
    )


def _of_motor(joint: Joint, name: str) -> Joint:
    """The joint of a gear's output."""
    kind = continuous.KIND.name if joint.kind == revolute.KIND.name else joint.kind
    given = joint.limits or Limits()
    return Joint(
        name,
        kind,
        joint.parent,
        name,
        origin=joint.origin,
        axis=joint.axis,
        limits=Limits(velocity=given.velocity, effort=given.effort),
        parameters=joint.parameters,
    )


def _coupled(mechanism: Mechanism) -> dict[str, str]:
    return {joint: x.name for x in mechanism.transmissions for joint in x.joints}


def _check_backlash(name: str, motor: Actuator) -> None:
    play = motor.backlash
    if not (math.isfinite(play) and play >= 0.0):
        raise ActuationError(
            f"the motor of joint {name!r} has backlash={play}, expected a number of rad or m that "
            "is not negative",
            direction=name,
        )
    if play and motor.elastic is None:
        raise ActuationError(
            f"the motor of joint {name!r} has backlash={play} in a gear that is rigid: give "
            "elastic=rd.Elastic(stiffness) too, the stiffness with which the teeth meet",
            direction=name,
        )


def _check_elastic(
    name: str, motor: Actuator, joint: Joint | None, coupled: dict[str, str]
) -> None:
    problem = ""
    if joint is None or not joint.nv:
        problem = "and the joint is no joint that moves: locked and cut ones have no motor"
    elif (joint.nq, joint.nv) != (1, 1):
        problem = f"and the joint is {joint.kind}: one degree of freedom is expected"
    elif name in coupled:
        problem = f"and belongs to transmission {coupled[name]!r}, whose shafts are rigid"
    elif not motor.rotor_inertia:
        problem = "and rotor_inertia=0: the motor is a joint of its own, give the rotor's inertia"
    elif not motor.gear_ratio:
        problem = "and gear_ratio=0"
    if problem:
        raise ActuationError(f"the gear of {name!r} is elastic, {problem}", direction=name)
