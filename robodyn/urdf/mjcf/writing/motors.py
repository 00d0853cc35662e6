"""Motors of joints and of transmissions as actuators of MJCF."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from robodyn.description import Actuator, Mechanism
from robodyn.errors import some_of
from robodyn.urdf.mjcf.writing.document import Document
from robodyn.urdf.mjcf.writing.motions import Motion
from robodyn.urdf.mjcf.writing.relations import add_sum


def add_motors(
    document: Document, mechanism: Mechanism, motions: Mapping[str, Motion], joints: Iterable[str]
) -> None:
    """Add a motor a joint, and three of a ball; those that are coupled drive fixed tendons.

    joints: That have motors.
    """
    given = dict(mechanism.actuators)
    shafts = _add_shafts(document, mechanism, given)
    for joint in joints:
        motor = given.get(joint, Actuator())
        driven = [({"tendon": shafts[joint]}, [1.0])] if joint in shafts else _of(motions, joint)
        for where, gear in driven:
            force: dict[str, object] = {"forcelimited": "false"}
            if math.isfinite(motor.torque_limit) and motor.torque_limit:
                bounds = -motor.torque_limit, motor.torque_limit
                force = {"forcelimited": "true", "forcerange": bounds}
            values = {"gear": motor.gear_ratio * np.array(gear), "ctrllimited": "false"}
            document.add("actuator/motor", name=motor.name or joint, **where, **values, **force)
    turning = [joint for joint, motor in given.items() if motor.rotor_inertia]
    if turning:
        document.lost.append(
            f"rotors ({some_of(turning)}) are armatures, as with rotor_model='armature': what "
            "turns them beside their gears is not felt"
        )


def _of(motions: Mapping[str, Motion], joint: str) -> list[tuple[dict[str, str], list[float]]]:
    """What motors of a joint drive, and by which gear: a ball about each of its axes."""
    found: list[tuple[dict[str, str], list[float]]] = []
    for motion in motions.values():
        if motion.joint.name == joint and not motion.follows:
            gears = [[1.0]] if motion.single else np.eye(3, 6).tolist()
            found += [({"joint": motion.name}, gear) for gear in gears]
    return found


def _add_shafts(
    document: Document, mechanism: Mechanism, given: Mapping[str, Actuator]
) -> dict[str, str]:
    """Fixed tendons of the shafts of transmissions, by the joints whose motors turn them."""
    shafts: dict[str, str] = {}
    for transmission in mechanism.transmissions:
        for joint, row in zip(transmission.joints, transmission.matrix, strict=True):
            motor = given.get(joint, Actuator())
            values = {
                "armature": motor.gear_ratio**2 * motor.rotor_inertia,
                "damping": motor.gear_ratio**2 * motor.viscous,
                "frictionloss": abs(motor.gear_ratio) * motor.coulomb,
            }
            terms = {x: c for x, c in zip(transmission.joints, row, strict=True) if c}
            felt = {key: x for key, x in values.items() if x}
            shafts[joint] = add_sum(document, f"{transmission.name}_{joint}", terms, **felt)
    return shafts
