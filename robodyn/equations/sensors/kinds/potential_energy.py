"""Energy of some bodies in uniform gravity."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """Zero where all mass is at the origin of the world; springs are no bodies."""
    _, moment = robot.mass_and_moment(robot.chosen(sensor))
    return [-robot.gravity.dot(moment)]


KIND = SensorKind(
    name="potential_energy",
    columns=("energy",),
    units=("J",),
    reads="q",
    takes=("bodies",),
    measure=measure,
)
