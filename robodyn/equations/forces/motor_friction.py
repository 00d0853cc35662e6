"""Friction of motors that several joints turn together, as forces on these joints."""

from __future__ import annotations

from collections.abc import Iterable

from robodyn.equations.forces.sliding import Sliding, motor_key
from robodyn.equations.mechanism.state import State
from robodyn.force_elements.joint_friction import resistance
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class MotorFriction:
    """Viscous and dry friction of a motor that turns with ``sum of ratio v``.

    joint: The joint that the motor is described for.
    turns: Bodies, whose joints have one degree of freedom, each with its ratio.
    scale: Root of the sum of the squares of all its ratios, those of joints that are locked too.
    viscous, coulomb [N m s/rad]
    """

    joint: str
    turns: tuple[tuple[int, float], ...]
    scale: float
    viscous: float
    coulomb: float


def motor_friction_forces(
    motors: Iterable[MotorFriction],
    state: State,
    friction_speed: Number | None,
    sliding: Sliding | None = None,
) -> dict[int, Number]:
    """Force along the joint of each body.

    Dry friction is smooth, and reaches 70 % at the speed of the motor that is `scale` times
    ``friction_speed``: where one joint alone turns it, when that has this speed. ``None``: that
    of ``sliding`` acts instead.
    """
    forces: dict[int, Number] = {}
    for motor in motors:
        speed: Number = 0.0
        for body, ratio in motor.turns:
            speed = speed + state[body].v[0] * ratio
        smooth = None if friction_speed is None else friction_speed * motor.scale
        torque = resistance(speed, motor.viscous, motor.coulomb, smooth)
        if sliding is not None:
            torque = torque + sliding.force(motor_key(motor.joint), speed)
        for body, ratio in motor.turns:
            forces[body] = forces.get(body, 0.0) + torque * ratio
    return forces
