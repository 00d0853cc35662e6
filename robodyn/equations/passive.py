"""What the joints themselves do: damping and dry friction as the file gives them."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism import Body, MechanismModel
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["joint_forces", "passive_forces"]


def passive_forces(
    model: MechanismModel, v: Sequence[Number], friction_speed: float
) -> list[Number]:
    """Generalised forces of joint damping and dry friction.

    ``- d v - f v / sqrt(v^2 + s^2)``: dry friction is smooth, and reaches 70 % at the speed ``s``.

    Parameters
    ----------
    friction_speed : float [rad/s or m/s]
        The speed ``s``.
    """
    tau: list[Number] = [0.0] * model.nv
    for body in model:
        for speed, force in zip(body.speeds, joint_forces(body, v, friction_speed), strict=True):
            tau[speed.index] += force * speed.factor
    return tau


def joint_forces(body: Body, v: Sequence[Number], friction_speed: float) -> list[Number]:
    """Damping and friction along each freedom of one joint."""
    joint, forces = body.description, []
    for speed in body.speeds:
        x = v[speed.index] * speed.factor
        force = x * joint.damping
        if joint.friction:
            force = force + x * joint.friction / sqrt(x * x + friction_speed**2)
        forces.append(-force)
    return forces
