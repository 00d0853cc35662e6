"""Forces of drives: friction of motors, springs of elastic gears, currents of windings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robodyn.description.drive import GearSpring, WindingCurrent
from robodyn.equations.mechanism.state import State
from robodyn.force_elements.joint_friction import resistance
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, clip, exp, maximum, minimum, where

#: A joint and the number of its freedom; a `motor_key` for a motor that several joints turn.
Key = tuple[str, int]


def motor_key(joint: str) -> Key:
    """The key of the motor that is described for a joint."""
    return f"motor of {joint}", 0


@dataclass(frozen=True, eq=False)
class Sliding:
    """Friction ``f (1 + x exp(-w s^2))`` at the speed ``s``, by what has it.

    laws: f [N m, N], which is against the motion, x, and w [s^2/rad^2, s^2/m^2].
    """

    laws: Mapping[Key, tuple[Number, Number, Number]]

    def force(self, key: Key, speed: Number) -> Number:
        """At a speed; zero of what has none."""
        f, x, w = self.laws.get(key, (0.0, 0.0, 0.0))
        fall: Number = exp(-(w * speed * speed))
        return f * (1.0 + x * fall)


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


def gear_spring_forces(gears: Iterable[GearSpring], state: State) -> dict[int, Number]:
    """Force along the joint of each body.

    With play, the damper acts where the teeth touch, and never pulls them together.
    """
    bodies = {x.description.name: x.index for x in state.model}
    forces: dict[int, Number] = {}
    for gear in gears:
        i, j = bodies[gear.motor], bodies[gear.joint]
        wound, rate = state[i].q[0] - state[j].q[0], state[i].v[0] - state[j].v[0]
        stretch = _stretch(gear, wound)
        force = stretch * gear.elastic.stiffness + rate * gear.elastic.damping
        if gear.backlash:
            behind = where(stretch < 0.0, minimum(force, 0.0), 0.0)
            force = where(stretch > 0.0, maximum(force, 0.0), behind)
        forces[i] = forces.get(i, 0.0) - force
        forces[j] = forces.get(j, 0.0) + force
    return forces


def gear_spring_energy(gears: Iterable[GearSpring], state: State) -> Number:
    """Elastic energy of the springs."""
    bodies = {x.description.name: x.index for x in state.model}
    total: Number = 0.0
    for gear in gears:
        wound = state[bodies[gear.motor]].q[0] - state[bodies[gear.joint]].q[0]
        stretch = _stretch(gear, wound)
        total = total + stretch * stretch * (0.5 * gear.elastic.stiffness)
    return total


def _stretch(gear: GearSpring, wound: Number) -> Number:
    """Of the spring, after the play."""
    play = 0.5 * gear.backlash
    return wound - clip(wound, -play, play) if play else wound


def winding_forces(windings: Iterable[WindingCurrent], state: State) -> dict[int, Number]:
    """Force along the joint of each body; together they do no work."""
    bodies = {x.description.name: x.index for x in state.model}
    forces: dict[int, Number] = {}
    for x in windings:
        i, j, k = bodies[x.winding], bodies[x.motor], x.constant * x.ratio
        forces[i] = forces.get(i, 0.0) - state[j].v[0] * k
        forces[j] = forces.get(j, 0.0) + state[i].v[0] * k
    return forces
