"""How far two points are from each other."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Between the origins of both frames."""
    p = robot.of_sensor(sensor).X.p
    return [sqrt(p.dot(p))]


KIND = SensorKind(
    name="distance",
    columns=("distance",),
    units=("m",),
    reads="q",
    needs=("at", "relative_to"),
    measure=measure,
)
