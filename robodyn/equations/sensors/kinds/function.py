"""A sensor that its user gives as a function: of the motion of a frame, or of joints."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.errors import TopologyError
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.scalar import Number


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Of pose, twist and its rate of a frame; or of coordinates, speeds and accelerations."""
    assert sensor.law is not None
    if sensor.joints:
        return inline(sensor.law, _of_joints(robot, sensor))
    F = robot.of_sensor(sensor)
    rows = zip(F.X.R.matrix.rows(), F.X.p, strict=True)
    pose = [x for row, p in rows for x in (*row, p)]
    return inline(sensor.law, [*pose, *F.V, *F.A])


def _of_joints(robot: MeasuredState, sensor: DescribedSensor) -> list[Number]:
    """Own coordinates of the joints, one after the other, then speeds, then accelerations."""
    assert sensor.law is not None
    bodies = {body.description.name: body.index for body in robot.model}
    q: list[Number] = []
    v: list[Number] = []
    a: list[Number] = []
    for name in sensor.joints:
        joint = robot.state[bodies[name]] if name in bodies else None
        if joint is not None:
            q += joint.q
            v += joint.v
            a += joint.acceleration(robot.a)
    found = [len(x) for x in (q, v, a)]
    expected = [port.size for port in sensor.law.inputs]
    if found != expected:
        raise TopologyError(
            f"it reads {', '.join(map(repr, sensor.joints))}, of which one has no coordinates of "
            "its own here: it is cut, fixed, or follows others by a loop",
            element=f"sensor {sensor.name!r}",
        )
    return [*q, *v, *a]


KINDS = (
    SensorKind(
        name="function",
        columns=(),
        units=(),
        reads="a",
        takes=("at", "relative_to", "joint"),
        measure=measure,
    ),
)
