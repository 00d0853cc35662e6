"""How fast the angle between the z axes of two frames grows."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import EZ

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The turning about the common normal; not a number where the axes are parallel."""
    F = robot.of_sensor(sensor)
    normal = EZ.cross(F.X.R * EZ)
    return [normal.dot(F.X.R * F.V.w) / sqrt(normal.dot(normal))]


KIND = SensorKind(
    name="angle_rate",
    columns=("rate",),
    units=("rad/s",),
    reads="v",
    needs=("at",),
    takes=("relative_to",),
    measure=measure,
)
