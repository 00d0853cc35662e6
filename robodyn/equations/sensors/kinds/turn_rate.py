"""How fast the angle about z of one frame to the x axis of another grows."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import EX

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Of the projection of x along z; not a number where x is along z."""
    F = robot.of_sensor(sensor)
    x = F.X.R * EX
    dx = (F.X.R * F.V.w).cross(x)
    return [(x.x * dx.y - x.y * dx.x) / (x.x * x.x + x.y * x.y)]


KIND = SensorKind(
    name="turn_rate",
    columns=("rate",),
    units=("rad/s",),
    reads="v",
    needs=("at",),
    takes=("relative_to",),
    measure=measure,
)
