"""What there is to say about a kind of sensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number


class Form(Enum):
    """What the numbers of a sensor are, for those who show them or send them."""

    NUMBERS = "numbers"
    POINT = "point"
    VECTOR = "vector"
    WRENCH = "wrench"
    IMU = "imu"


@dataclass(frozen=True, kw_only=True)
class SensorKind:
    """A kind of sensor.

    columns, units: Of the numbers that it gives.
    reads {"q", "v", "a"}: What it needs of a state: positions, speeds as well, or accelerations as
        well.
    needs, takes: Arguments of `robodyn.Sensor` that it cannot do without, and others that it
        understands.
    measure: Its numbers, of a state and the sensor.
    """

    name: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    reads: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    form: Form = Form.NUMBERS
    measure: Callable[[MeasuredState, DescribedSensor], Sequence[Number]]


XYZ = ("x", "y", "z")
LENGTH = ("m",) * 3
ANGULAR = ("rad/s",) * 3
ACCELERATION = ("m/s^2",) * 3
