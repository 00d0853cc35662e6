"""Linear and angular momentum of some bodies, with the rotors that they carry."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.rotor_forces import rotor_momenta
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench
from robodyn.symbolic.vector import Vec3

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
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


KIND = SensorKind(
    name="momentum",
    columns=("px", "py", "pz", "lx", "ly", "lz"),
    units=(*("kg m/s",) * 3, *("kg m^2/s",) * 3),
    reads="v",
    takes=("bodies", "at", "axes"),
    measure=measure,
)
