"""Elastic gears in the model: the motor turns a joint of its own, which a spring ties to its joint.

The joint that is added is of the same kind, at the same place and about the same axis, and moves no
mass but the rotor behind its gear: its coordinate is that of the gear's output.
"""

from __future__ import annotations

import dataclasses
import math

from robodyn.description import Actuator, Joint, Limits, Link, Mechanism
from robodyn.description.drive import GearSpring
from robodyn.errors import ActuationError, TopologyError
from robodyn.joints import continuous, revolute

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
