"""Accelerometer and gyroscope: specific force and angular velocity along their own axes."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import ACCELERATION, ANGULAR, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.frame_motion import classical
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The acceleration of its origin less gravity: at rest it shows 9.81 m/s^2 upwards."""
    F = robot.of_sensor(sensor)
    force = classical(F.V, F.A).v - F.X.R.inverse_times(robot.gravity)
    return [*force, *F.V.w]


KIND = SensorKind(
    name="imu",
    columns=("fx", "fy", "fz", "wx", "wy", "wz"),
    units=(*ACCELERATION, *ANGULAR),
    reads="a",
    needs=("at",),
    form=Form.IMU,
    measure=measure,
)
