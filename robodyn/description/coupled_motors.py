"""Which joints turn which motors of a mechanism, and what is wrong with transmissions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from robodyn.description.actuation import Actuator
from robodyn.description.joint import Joint, Loop
from robodyn.description.mechanism import Mechanism
from robodyn.description.transmission import Transmission
from robodyn.errors import ActuationError
from robodyn.joints import joint_kind


def motor_ratios(mechanism: Mechanism) -> dict[str, tuple[tuple[str, float], ...]]:
    """For each motor, by its joint: the joints that turn it, and its speed a unit of theirs."""
    gears = {name: motor.gear_ratio for name, motor in mechanism.actuators}
    ratios: dict[str, tuple[tuple[str, float], ...]] = {}
    for coupling in mechanism.transmissions:
        for name, row in zip(coupling.joints, coupling.matrix, strict=True):
            turned = zip(coupling.joints, row, strict=True)
            ratios[name] = tuple((joint, gears[name] * x) for joint, x in turned if x)
    return {name: ratios.get(name, ((name, gear),)) for name, gear in gears.items()}


def with_transmissions(mechanism: Mechanism, more: Iterable[Transmission]) -> Mechanism:
    """A description with more transmissions, in which each joint of one has an actuator.

    Raises ActuationError: If a transmission drives what it cannot.
    """
    transmissions = (*mechanism.transmissions, *more)
    joints, motors = {x.name: x for x in mechanism.movers}, dict(mechanism.actuators)
    for coupling, problem in transmission_problems(joints, motors, transmissions):
        raise ActuationError(f"transmission {coupling.name!r} {problem}", direction=coupling.name)
    for name in (name for x in transmissions for name in x.joints):
        motors.setdefault(name, Actuator())
    return dataclasses.replace(
        mechanism, transmissions=transmissions, actuators=tuple(motors.items())
    )


def transmission_problems(
    joints: Mapping[str, Joint | Loop],
    motors: Mapping[str, Actuator],
    transmissions: Iterable[Transmission],
) -> Iterator[tuple[Transmission, str]]:
    """What is wrong with transmissions of a robot, each with a sentence that says it."""
    driven: dict[str, str] = {}
    for coupling in transmissions:
        for name in coupling.joints:
            joint = joints.get(name)
            if name in driven:
                yield coupling, f"drives {name!r}, which transmission {driven[name]!r} drives too"
            elif joint is None:
                yield coupling, f"drives {name!r}, which is no joint of the robot"
            elif (joint_kind(joint.kind).nv if isinstance(joint, Loop) else joint.nv) > 1:
                yield coupling, f"drives {name!r}, which is {joint.kind}: one freedom is expected"
            elif name in motors and not motors[name].gear_ratio:
                yield coupling, f"has a motor for {name!r} whose gear ratio is zero"
            driven.setdefault(name, coupling.name)
