"""A speedometer: how fast a point moves, whichever way."""

FILES = {
    "robodyn/equations/sensors/kinds/speed.py": '''"""How fast a point moves, whichever way."""

from collections.abc import Sequence

from robodyn.description.sensor import DescribedSensor
from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.equations.sensors.kinds.common.measured import MeasuredState
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["KINDS"]


def measure(robot: MeasuredState, sensor: DescribedSensor) -> Sequence[Number]:
    """As somebody sees it who moves with the frame that it is seen from."""
    v = robot.of_sensor(sensor).V.v
    return [sqrt(v.dot(v))]


KINDS = (
    SensorKind(
        name="speed",
        columns=("speed",),
        units=("m/s",),
        reads="v",
        needs=("at",),
        takes=("relative_to",),
        measure=measure,
    ),
)
'''
}
LINES = [("robodyn/literals.py", '    "imu",\n', '    "speed",\n')]

USE = """
import numpy as np
import robodyn as rd

tip = ("lower", (0, 0, -1))
sensors = [rd.Sensor("speed", at=tip, name="speed"), rd.Sensor("velocity", at=tip, name="velocity")]
robot = rd.load("double_pendulum", sensors=sensors)
q, v = np.random.default_rng(1).normal(size=(2, 7, 2))
shown = robot.measure(q, v)
assert np.allclose(shown["speed"][:, 0], np.linalg.norm(shown["velocity"], axis=-1))
run = rd.simulate(robot, q0=q[0], duration=0.01)
assert run.measurements["speed"].shape == (len(run), 1)
try:
    rd.Sensor("sped", at=tip)
except rd.UnknownNameError as error:
    assert "did you mean 'speed'" in str(error)
else:
    raise AssertionError("a kind that does not exist was accepted")
"""
