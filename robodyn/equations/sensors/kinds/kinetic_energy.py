"""Kinetic energy of some bodies, with the rotors that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.rotor_forces import rotor_momenta
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Rotors count with the body that carries them, other armatures with the one that they move."""
    model, chosen = robot.model, robot.chosen(sensor)
    twice: Number = 0.0
    for i, inertia in robot.inertias(chosen):
        V = robot.twists[i]
        twice = twice + V.dot(inertia.momentum(V))
    for i, P in rotor_momenta(model.rotors, robot.state):
        if i in chosen:
            twice = twice + robot.twists[i].dot(P) * 2.0
    for armature in model.armature:
        inertia_here = _counted(robot, chosen, armature.body, armature.inertia)
        for x in robot.state[armature.body].v:
            twice = twice + x * x * inertia_here
    for both in model.coupling_inertias:
        if both.carrier in chosen:
            x, y = robot.state[both.first].v[0], robot.state[both.second].v[0]
            twice = twice + 2.0 * x * y * both.inertia
    return [twice * 0.5]


def _counted(robot: MeasuredState, chosen: frozenset[int], body: int, armature: Number) -> Number:
    """The part of what a joint feels of rotors that counts with the chosen bodies."""
    rotors = [x for x in robot.model.rotors if x.body == body]
    if all((x.carrier in chosen) == (body in chosen) for x in rotors):
        return armature if body in chosen else 0.0
    spins: list[tuple[bool, Number]] = [
        (x.carrier in chosen, x.inertia * (x.ratio * x.ratio)) for x in rotors
    ]
    there: Number = sum((x for here, x in spins if here), 0.0)
    if body in chosen:  # all but the rotors that other bodies carry
        return armature - sum((x for here, x in spins if not here), 0.0)
    return there


KIND = SensorKind(
    name="kinetic_energy",
    columns=("energy",),
    units=("J",),
    reads="v",
    takes=("bodies",),
    measure=measure,
)
