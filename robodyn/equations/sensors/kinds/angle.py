"""The angle between the z axes of two frames."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.joints.common.quaternion import logarithm
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import EZ

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """From zero to half a turn: twice the angle whose tangent is ``|x - y| / |x + y|``."""
    z = robot.of_sensor(sensor).X.R * EZ
    apart, together = z - EZ, z + EZ
    half = sqrt(apart.dot(apart)), sqrt(together.dot(together))
    return [logarithm([0.0, 0.0, half[0], half[1]]).z]


KIND = SensorKind(
    name="angle",
    columns=("angle",),
    units=("rad",),
    reads="q",
    needs=("at",),
    takes=("relative_to",),
    measure=measure,
)
