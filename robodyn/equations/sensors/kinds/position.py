"""Where a point is."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import LENGTH, XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """From the origin of the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.X.R.inverse_times(F.X.p))]


KIND = SensorKind(
    name="position",
    columns=XYZ,
    units=LENGTH,
    reads="q",
    needs=("at",),
    takes=("relative_to", "axes"),
    form=Form.POINT,
    measure=measure,
)
