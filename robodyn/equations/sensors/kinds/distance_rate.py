"""How fast the distance between two points grows."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Between the origins of both frames; not a number where they are one point."""
    F = robot.of_sensor(sensor)
    p = F.X.p
    return [p.dot(F.X.R * F.V.v) / sqrt(p.dot(p))]


KIND = SensorKind(
    name="distance_rate",
    columns=("rate",),
    units=("m/s",),
    reads="v",
    needs=("at", "relative_to"),
    measure=measure,
)
