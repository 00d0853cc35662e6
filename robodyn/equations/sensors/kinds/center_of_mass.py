"""Centre of mass of some bodies."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import LENGTH, XYZ, Form, SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number

__all__ = ["KIND"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """In the world."""
    mass, moment = robot.mass_and_moment(robot.chosen(sensor))
    return [*(moment * (1.0 / mass))]


KIND = SensorKind(
    name="center_of_mass",
    columns=XYZ,
    units=LENGTH,
    reads="q",
    takes=("bodies",),
    form=Form.POINT,
    measure=measure,
)
