"""Mass, energy and momentum of some bodies, with the rotors that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import LENGTH, XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.rotor_forces import rotor_momenta
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench
from robodyn.symbolic.vector import Vec3


def center_of_mass(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """In the world."""
    mass, moment = robot.mass_and_moment(robot.chosen(sensor))
    return [*(moment * (1.0 / mass))]


def potential_energy(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Zero where all mass is at the origin of the world; springs are no bodies."""
    _, moment = robot.mass_and_moment(robot.chosen(sensor))
    return [-robot.gravity.dot(moment)]


def kinetic_energy(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
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


def momentum(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """About the origin of a frame, or the centre of mass of the bodies, along axes of the world.

    Velocities are those in the world, whether the point moves or not.
    """
    chosen = robot.chosen(sensor)
    momenta = {i: inertia.momentum(robot.twists[i]) for i, inertia in robot.inertias(chosen)}
    for i, spun in rotor_momenta(robot.model.rotors, robot.state):
        if i in chosen:
            momenta[i] = momenta.get(i, Wrench()) + spun
    if sensor.at is not None:
        center = robot.motion(sensor.at).X.p
    else:
        mass, moment = robot.mass_and_moment(chosen)
        center = moment * (1.0 / mass)
    linear, angular = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    for i, P in momenta.items():
        X = robot.poses[i]
        p = X.R * P.f
        linear, angular = linear + p, angular + X.R * P.n + (X.p - center).cross(p)
    if sensor.axes is not None:
        R = robot.rotation(sensor.axes)
        linear, angular = R.inverse_times(linear), R.inverse_times(angular)
    return [*linear, *angular]


KINDS = (
    SensorKind(
        name="center_of_mass",
        columns=XYZ,
        units=LENGTH,
        reads="q",
        takes=("bodies",),
        form=Form.POINT,
        measure=center_of_mass,
    ),
    SensorKind(
        name="potential_energy",
        columns=("energy",),
        units=("J",),
        reads="q",
        takes=("bodies",),
        measure=potential_energy,
    ),
    SensorKind(
        name="kinetic_energy",
        columns=("energy",),
        units=("J",),
        reads="v",
        takes=("bodies",),
        measure=kinetic_energy,
    ),
    SensorKind(
        name="momentum",
        columns=("px", "py", "pz", "lx", "ly", "lz"),
        units=(*("kg m/s",) * 3, *("kg m^2/s",) * 3),
        reads="v",
        takes=("bodies", "at", "axes"),
        measure=momentum,
    ),
)
