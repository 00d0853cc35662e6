"""How fast the angular velocity of a frame changes."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Relative to the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.A.w)]


KIND = SensorKind(
    name="angular_acceleration",
    columns=XYZ,
    units=("rad/s^2",) * 3,
    reads="a",
    needs=("at",),
    takes=("relative_to", "axes"),
    form=Form.VECTOR,
    measure=measure,
)
