"""What the joints themselves do: damping, dry friction, springs."""

from __future__ import annotations

from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["joint_forces", "passive_forces", "resistance", "spring_energy"]


def passive_forces(model: MechanismModel, state: State, friction_speed: float) -> list[Number]:
    """Generalised forces of joint damping, dry friction and springs.

    ``- d v - f v / sqrt(v^2 + s^2) - k (q - q_0)``: dry friction is smooth, and reaches 70 % at the
    speed ``s``.

    Parameters
    ----------
    friction_speed : float [rad/s or m/s]
        The speed ``s``.
    """
    tau: list[Number] = [0.0] * model.nv
    for body in model:
        joint = state[body.index]
        forces = joint_forces(body, joint, friction_speed)
        for k, freedom, ratio in joint.ratios:
            tau[k] += forces[freedom] * ratio
    return tau


def joint_forces(body: Body, joint: JointAtState, friction_speed: float) -> list[Number]:
    """Damping, friction and spring along each freedom of one joint."""
    told, forces = body.description, []
    for x in joint.v:
        forces.append(resistance(x, told.damping, told.friction, friction_speed))
    if told.stiffness:
        forces[0] = forces[0] - (joint.q[0] - told.rest) * told.stiffness
    return forces


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
