"""The angle about z of one frame from its x axis to that of another, seen along z."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.joints.common.quaternion import logarithm
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import EX

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """More than minus half a turn to half a turn; not a number where x is along z."""
    x = robot.of_sensor(sensor).X.R * EX
    length = sqrt(x.x * x.x + x.y * x.y)
    return [logarithm([0.0, 0.0, x.y / length, 1.0 + x.x / length]).z]


KIND = SensorKind(
    name="turn",
    columns=("angle",),
    units=("rad",),
    reads="q",
    needs=("at",),
    takes=("relative_to",),
    measure=measure,
)
