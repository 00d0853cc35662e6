"""What sensors show as the contents of ROS messages; nothing here needs ROS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.kinds.common.kind import Form
from robodyn.ros.engine.frames import Transform, quaternion
from robodyn.ros.engine.messages import Stamp

__all__ = ["SensorContent", "form_of", "sensor_content", "sensor_frames"]


@dataclass(frozen=True, eq=False)
class SensorContent:
    """What the message of a sensor holds.

    Attributes
    ----------
    stamp : (int, int) [s, ns]
    frame_id : str
        The frame along whose axes vectors are given.
    form : Form
        Which message it is.
    numbers : ndarray, shape (n,)
    """

    stamp: Stamp
    frame_id: str
    form: Form
    numbers: FloatArray


def form_of(sensor: DescribedSensor) -> Form:
    """Which message a sensor has; a point along axes of a third frame is a vector."""
    form = KINDS[sensor.kind].form
    return Form.VECTOR if form is Form.POINT and sensor.axes is not None else form


def sensor_content(
    robot: rd.Robot, sensor: DescribedSensor, numbers: FloatArray, stamp: Stamp
) -> SensorContent:
    """The content of the message of a sensor, of the numbers that `Robot.measure` gives."""
    return SensorContent(stamp, _frame_id(robot, sensor), form_of(sensor), np.array(numbers, float))


def sensor_frames(robot: rd.Robot) -> list[Transform]:
    """Frames of messages of sensors that are not those of links, each in its link."""
    found = []
    for sensor in robot.sensors:
        frame = _frame(sensor)
        if frame is not None and not _is_link(frame):
            link, X = frame
            place = Transform(
                _link(robot, link), _own_name(sensor), X[:3, 3].copy(), quaternion(X[:3, :3])
            )
            found.append(place)
    return found


def _frame(sensor: DescribedSensor) -> Frame | None:
    """The frame along whose axes a sensor shows vectors, where it is not that of a joint."""
    form = KINDS[sensor.kind].form
    if form in (Form.IMU, Form.WRENCH):
        return sensor.at
    return sensor.axes or sensor.relative_to or ("world", np.eye(4))


def _frame_id(robot: rd.Robot, sensor: DescribedSensor) -> str:
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


def _link(robot: rd.Robot, link: str) -> str:
    """A link as transforms call it: the world is the base, where that does not move."""
    if link == "world" and link not in robot.link_names and robot.base == "fixed":
        return robot.link_names[0]
    return link
