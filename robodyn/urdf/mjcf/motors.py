"""Actuators of a compiled model as motors of joints.

An actuator's force times its gear is what its joint feels, so the gear is the ratio of a motor, and
the limit of the force that of the motor's torque. How the force follows from controls is the matter
of a controller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from robodyn.description import Actuator, Joint
from robodyn.urdf.mjcf.model import CompiledModel


class Motors:
    """Motors by joint, and what actuators are beside that.

    of_tendons: Those of fixed tendons, with their gear ratios to these.
    efforts: Limits of what drives each joint, by its number.
    elsewhere: Actuators that drive no single joint and no fixed tendon: sites, balls, bodies,
        cables.
    controlled: Actuators whose force follows from the state: servos, muscles, dampers.
    one_sided: Actuators that pull stronger than they push, or the other way round.
    """

    def __init__(self, compiled: CompiledModel) -> None:
        model, names = compiled.model, compiled.names
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
                limit = self._limit(compiled, k, name)
                motors = found if single else self.of_tendons
                at = int(model.actuator_trnid[k, 0])
                motors.setdefault(at, []).append(Actuator(gear, torque_limit=limit, name=name))
        together = {joint: _combined(motors) for joint, motors in found.items()}
        self.actuators = tuple((names.joints[j], motor) for j, motor in sorted(together.items()))
        self.efforts = {
            j: abs(motor.gear_ratio) * motor.torque_limit for j, motor in together.items()
        }
        for j in range(model.njnt):
            if model.jnt_actfrclimited[j]:
                limit = float(np.abs(model.jnt_actfrcrange[j]).max())
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
        rows = getattr(model, "actuator_ctrladr", None)
        control = k if rows is None else rows[k]
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
