"""How fast the velocity of a point changes."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import ACCELERATION, XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.frame_motion import classical
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Of the point that the frame's origin is, without gravity."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, classical(F.V, F.A).v)]


KIND = SensorKind(
    name="acceleration",
    columns=XYZ,
    units=ACCELERATION,
    reads="a",
    needs=("at",),
    takes=("relative_to", "axes"),
    form=Form.VECTOR,
    measure=measure,
)
