"""What the joints themselves do: damping, dry friction, springs, stops."""

from __future__ import annotations

import math

from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.equations.tree.joint_stops import stop_energy, stop_force
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["joint_forces", "passive_forces", "resistance", "spring_energy", "stop_energies"]


def passive_forces(
    model: MechanismModel, state: State, friction_speed: float, passive: bool = True
) -> list[Number]:
    """Generalised forces of joint damping, dry friction, springs and stops.

    ``- d v - f v / sqrt(v^2 + s^2) - k (q - q_0)``: dry friction is smooth, and reaches 70 % at the
    speed ``s``.

    Parameters
    ----------
    friction_speed : float [rad/s or m/s]
        The speed ``s``.
    passive : bool
        Whether more than the stops belongs to the mechanism.
    """
    tau: list[Number] = [0.0] * model.nv
    for body in model:
        joint = state[body.index]
        forces = joint_forces(body, joint, friction_speed, passive)
        for k, freedom, ratio in joint.ratios:
            tau[k] += forces[freedom] * ratio
    return tau


def joint_forces(
    body: Body, joint: JointAtState, friction_speed: float, passive: bool = True
) -> list[Number]:
    """Damping, friction, spring and stops along each freedom of one joint."""
    told, forces = body.description, []
    for x in joint.v:
        own = resistance(x, told.damping, told.friction, friction_speed) if passive else 0.0
        forces.append(own)
    if told.stiffness and passive:
        forces[0] = forces[0] - (joint.q[0] - told.rest) * told.stiffness
    if told.stop_stiffness:
        given = (*_ends(body), told.stop_stiffness, told.stop_damping)
        forces[0] = forces[0] + stop_force(joint.q[0], joint.v[0], *given)
    return forces


def stop_energies(model: MechanismModel, state: State) -> Number:
    """Potential energy of the stops of joints."""
    total: Number = 0.0
    for body in model:
        stiffness = body.description.stop_stiffness
        if stiffness:
            total = total + stop_energy(state[body.index].q[0], *_ends(body), stiffness)
    return total


def _ends(body: Body) -> tuple[float, float]:
    limits = body.description.limits
    return (-math.inf, math.inf) if limits is None else (limits.lower, limits.upper)


def resistance(x: Number, damping: float, friction: float, friction_speed: float) -> Number:
    """Force against a speed ``x``."""
    force = x * damping
    if friction:
        force = force + x * friction / sqrt(x * x + friction_speed**2)
    return -force


def spring_energy(model: MechanismModel, state: State) -> Number:
    """Potential energy of the springs in joints."""
    total: Number = 0.0
    for body in model:
        if body.description.stiffness:
            stretch = state[body.index].q[0] - body.description.rest
            total = total + stretch * stretch * (0.5 * body.description.stiffness)
    return total
