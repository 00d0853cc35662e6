"""Force and moment in a joint: at a flange, or in a bearing."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """What the parent exerts on the child, about the origin of the frame asked for, in its axes."""
    F, body, X = robot.wrench(sensor.joints[0])
    if sensor.at is not None:
        F = robot.motion_on(body, X, sensor.at).X.wrench_out(F)
    return [*F]


KINDS = (
    SensorKind(
        name="wrench",
        columns=("fx", "fy", "fz", "mx", "my", "mz"),
        units=(*("N",) * 3, *("N m",) * 3),
        reads="a",
        needs=("joint",),
        takes=("at",),
        form=Form.WRENCH,
        measure=measure,
    ),
)
