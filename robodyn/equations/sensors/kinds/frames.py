"""Where a frame is, how it moves, and how it stands to another one."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import (
    ACCELERATION,
    ANGULAR,
    LENGTH,
    XYZ,
    Form,
    SensorKind,
)
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.equations.tree.frame_motion import classical
from robodyn.joints.common.quaternion import logarithm
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import EX, EZ


def position(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """From the origin of the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.X.R.inverse_times(F.X.p))]


def orientation(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The rotation matrix from its axes to those that it is seen from, row by row."""
    return [x for row in robot.of_sensor(sensor).X.R.matrix.rows() for x in row]


def velocity(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """As somebody sees it who moves with the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.V.v)]


def angular_velocity(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Relative to the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.V.w)]


def acceleration(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Of the point that the frame's origin is, without gravity."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, classical(F.V, F.A).v)]


def angular_acceleration(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Relative to the frame that it is seen from."""
    F = robot.of_sensor(sensor)
    return [*robot.along_axes(sensor, F, F.A.w)]


def imu(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The acceleration of its origin less gravity, and its angular velocity, along its own axes.

    At rest it shows 9.81 m/s^2 upwards.
    """
    F = robot.of_sensor(sensor)
    force = classical(F.V, F.A).v - F.X.R.inverse_times(robot.gravity)
    return [*force, *F.V.w]


def distance(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Between the origins of both frames."""
    p = robot.of_sensor(sensor).X.p
    return [sqrt(p.dot(p))]


def distance_rate(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Between the origins of both frames; not a number where they are one point."""
    F = robot.of_sensor(sensor)
    p = F.X.p
    return [p.dot(F.X.R * F.V.v) / sqrt(p.dot(p))]


def angle(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Between the z axes of two frames, from zero to half a turn.

    Twice the angle whose tangent is ``|x - y| / |x + y|``.
    """
    z = robot.of_sensor(sensor).X.R * EZ
    apart, together = z - EZ, z + EZ
    half = sqrt(apart.dot(apart)), sqrt(together.dot(together))
    return [logarithm([0.0, 0.0, half[0], half[1]]).z]


def angle_rate(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The turning about the common normal; not a number where the axes are parallel."""
    F = robot.of_sensor(sensor)
    normal = EZ.cross(F.X.R * EZ)
    return [normal.dot(F.X.R * F.V.w) / sqrt(normal.dot(normal))]


def turn(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """The angle about z of one frame from its x axis to that of another, seen along z.

    More than minus half a turn to half a turn; not a number where x is along z.
    """
    x = robot.of_sensor(sensor).X.R * EX
    length = sqrt(x.x * x.x + x.y * x.y)
    return [logarithm([0.0, 0.0, x.y / length, 1.0 + x.x / length]).z]


def turn_rate(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Of the projection of x along z; not a number where x is along z."""
    F = robot.of_sensor(sensor)
    x = F.X.R * EX
    dx = (F.X.R * F.V.w).cross(x)
    return [(x.x * dx.y - x.y * dx.x) / (x.x * x.x + x.y * x.y)]


_AXES, _ONE = ("relative_to", "axes"), ("relative_to",)
_NINE = tuple(row + column for row in XYZ for column in XYZ)
_IMU = ("fx", "fy", "fz", "wx", "wy", "wz")

#: Measured, with columns, units, what it reads, what it takes beside ``at``, and its form.
_ROWS = (
    (position, XYZ, LENGTH, "q", _AXES, Form.POINT),
    (orientation, _NINE, ("",) * 9, "q", _ONE, Form.NUMBERS),
    (velocity, XYZ, ("m/s",) * 3, "v", _AXES, Form.VECTOR),
    (angular_velocity, XYZ, ANGULAR, "v", _AXES, Form.VECTOR),
    (acceleration, XYZ, ACCELERATION, "a", _AXES, Form.VECTOR),
    (angular_acceleration, XYZ, ("rad/s^2",) * 3, "a", _AXES, Form.VECTOR),
    (imu, _IMU, (*ACCELERATION, *ANGULAR), "a", (), Form.IMU),
    (angle, ("angle",), ("rad",), "q", _ONE, Form.NUMBERS),
    (angle_rate, ("rate",), ("rad/s",), "v", _ONE, Form.NUMBERS),
    (turn, ("angle",), ("rad",), "q", _ONE, Form.NUMBERS),
    (turn_rate, ("rate",), ("rad/s",), "v", _ONE, Form.NUMBERS),
)
_BETWEEN = ((distance, "distance", "m", "q"), (distance_rate, "rate", "m/s", "v"))

KINDS = (
    *(
        SensorKind(
            name=measure.__name__, columns=columns, units=units, reads=reads, needs=("at",),
            takes=takes, form=form, measure=measure,
        )
        for measure, columns, units, reads, takes, form in _ROWS
    ),
    *(
        SensorKind(
            name=measure.__name__, columns=(column,), units=(unit,), reads=reads,
            needs=("at", "relative_to"), measure=measure,
        )
        for measure, column, unit, reads in _BETWEEN
    ),
)  # fmt: skip
