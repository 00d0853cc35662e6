"""What sensors show as the contents of messages of ROS; nothing here needs ROS."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.kinds.common.kind import Form
from robodyn.robot import Robot

#: Package and name of the message of each form.
SENSOR_MESSAGES = {
    Form.NUMBERS: ("std_msgs", "Float64MultiArray"),
    Form.POINT: ("geometry_msgs", "PointStamped"),
    Form.VECTOR: ("geometry_msgs", "Vector3Stamped"),
    Form.WRENCH: ("geometry_msgs", "WrenchStamped"),
    Form.IMU: ("sensor_msgs", "Imu"),
}


@dataclass(frozen=True, eq=False)
class SensorContent:
    """What the message of a sensor holds.

    stamp [s, ns]
    frame_id: The frame along whose axes vectors are given.
    form: Which message it is.
    numbers (n,)
    """

    stamp: tuple[int, int]
    frame_id: str
    form: Form
    numbers: FloatArray


def topic_name(name: str) -> str:
    """A joint's name as part of a topic's: letters, digits and single underscores."""
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", name)).strip("_") or "joint"
    return f"joint_{plain}" if plain[0].isdigit() else plain


def form_of(sensor: DescribedSensor) -> Form:
    """Which message a sensor has; a point along axes of a third frame is a vector."""
    form = KINDS[sensor.kind].form
    return Form.VECTOR if form is Form.POINT and sensor.axes is not None else form


def sensor_content(
    robot: Robot, sensor: DescribedSensor, numbers: FloatArray, stamp: tuple[int, int]
) -> SensorContent:
    """The content of the message of a sensor, of the numbers that `Robot.measure` gives."""
    return SensorContent(stamp, _frame_id(robot, sensor), form_of(sensor), np.array(numbers, float))


def own_frame(robot: Robot, sensor: DescribedSensor) -> tuple[str, str, FloatArray] | None:
    """The frame of its messages, if that is none of a link: link, name, and pose in the link."""
    frame = _frame(sensor)
    if frame is None or _is_link(frame):
        return None
    return _link(robot, frame[0]), _own_name(sensor), frame[1]


def _frame(sensor: DescribedSensor) -> Frame | None:
    """The frame along whose axes a sensor shows vectors, where it is not that of a joint."""
    form = KINDS[sensor.kind].form
    if form in (Form.IMU, Form.WRENCH):
        return sensor.at
    return sensor.axes or sensor.relative_to or ("world", np.eye(4))


def _frame_id(robot: Robot, sensor: DescribedSensor) -> str:
    frame = _frame(sensor)
    if frame is None:  # a wrench where joint_wrenches gives it
        (joint,) = sensor.joints
        return robot.link_names[0] if joint == "base" else robot.joints[joint].child
    return _link(robot, frame[0]) if _is_link(frame) else _own_name(sensor)


def _is_link(frame: Frame) -> bool:
    return bool((frame[1] == np.eye(4)).all())


def _own_name(sensor: DescribedSensor) -> str:
    """Of a frame that has no name of its own."""
    return f"{sensor.name}_frame"


def _link(robot: Robot, link: str) -> str:
    """A link as transforms call it: the world is the base, where that does not move."""
    if link == "world" and link not in robot.link_names and robot.base == "fixed":
        return robot.link_names[0]
    return link
