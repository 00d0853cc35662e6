"""Mass, energy and momentum of some bodies, with the rotors that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import LENGTH, XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.momentum import kinetic_energy as energy_of_motion
from robodyn.equations.tree.newton_euler import rotor_momenta
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
    return [energy_of_motion(robot.state, robot.chosen(sensor))]


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


_BODIES = ("bodies",)
_MOMENTUM = ("px", "py", "pz", "lx", "ly", "lz"), (*("kg m/s",) * 3, *("kg m^2/s",) * 3)

#: Measured, with columns, units, what it reads, what it takes, and its form.
_ROWS = (
    (center_of_mass, XYZ, LENGTH, "q", _BODIES, Form.POINT),
    (potential_energy, ("energy",), ("J",), "q", _BODIES, Form.NUMBERS),
    (kinetic_energy, ("energy",), ("J",), "v", _BODIES, Form.NUMBERS),
    (momentum, *_MOMENTUM, "v", ("bodies", "at", "axes"), Form.NUMBERS),
)

KINDS = tuple(
    SensorKind(
        name=measure.__name__, columns=columns, units=units, reads=reads, takes=takes, form=form,
        measure=measure,
    )
    for measure, columns, units, reads, takes, form in _ROWS
)  # fmt: skip
