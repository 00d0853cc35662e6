"""Columns of the regressor of inverse dynamics for motors, armatures and friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.forces.between_links import generalised
from robodyn.equations.forces.motor_friction import MotorFriction, motor_friction_forces
from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.mechanism.rotors import Armature, Motor
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.rotor_forces import (
    armature_forces,
    coupling_forces,
    rotor_reactions,
)
from robodyn.force_elements.joint_friction import resistance
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Wrench


def rotor_column(
    state: State, a: Sequence[Number], motion: Mapping[int, BodyMotion], motor: Motor
) -> list[Number]:
    """Forces of inverse dynamics for a rotor of 1 kg m^2, shape (nv,)."""
    on_carrier: dict[int, Wrench] = {}
    along = rotor_reactions(motor.rotors, state, a, motion, on_carrier)
    tau = generalised(state, on_carrier)
    felt = armature_forces(motor.armature, state, a), coupling_forces(motor.couplings, state, a)
    for forces in (*felt, along):
        for k, force in forces.items():
            tau[k] += force
    return tau


def armature_column(nv: int, body: Body, state: State, a: Sequence[Number]) -> list[Number]:
    """Forces of inverse dynamics for an armature of one unit at a joint, shape (nv,)."""
    tau: list[Number] = [0.0] * nv
    for k, force in armature_forces((Armature(body.index, 1.0),), state, a).items():
        tau[k] += force
    return tau


def resistance_column(
    nv: int, body: Body, state: State, damping: float, friction: float, friction_speed: float
) -> list[Number]:
    """Forces that overcome a damping and a dry friction of one joint, shape (nv,)."""
    tau: list[Number] = [0.0] * nv
    joint = state[body.index]
    own = [-resistance(x, damping, friction, friction_speed) for x in joint.v]
    for k, freedom, ratio in joint.ratios:
        tau[k] += own[freedom] * ratio
    return tau


def motor_friction_column(
    nv: int, motor: MotorFriction, state: State, friction_speed: float
) -> list[Number]:
    """Forces that overcome the friction of a motor that several joints turn, shape (nv,)."""
    tau: list[Number] = [0.0] * nv
    for body, force in motor_friction_forces((motor,), state, friction_speed).items():
        for k, _, ratio in state[body].ratios:
            tau[k] -= force * ratio
    return tau
