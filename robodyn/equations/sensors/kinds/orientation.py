"""How a frame is turned: its direction cosines."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import XYZ, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The rotation matrix from its axes to those that it is seen from, row by row."""
    return [x for row in robot.of_sensor(sensor).X.R.matrix.rows() for x in row]


KIND = SensorKind(
    name="orientation",
    columns=tuple(row + column for row in XYZ for column in XYZ),
    units=("",) * 9,
    reads="q",
    needs=("at",),
    takes=("relative_to",),
    measure=measure,
)
