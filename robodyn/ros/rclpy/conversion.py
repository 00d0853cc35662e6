"""Conversion between message contents and message objects of rclpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.bags.sensors import SENSOR_MESSAGES, SensorContent
from robodyn.equations.sensors.kinds.common.kind import Form
from robodyn.ros.engine.frames import Transform
from robodyn.ros.engine.messages import JointStateContent, Stamp, WrenchContent
from robodyn.ros.rclpy.access import message


def joint_state_message(content: JointStateContent) -> Any:
    """A ``sensor_msgs/JointState``."""
    (kind,) = message("sensor_msgs", "JointState")
    msg = kind(name=list(content.name))
    _stamp(msg, content.stamp)
    msg.position = content.position.tolist()
    msg.velocity = content.velocity.tolist()
    msg.effort = content.effort.tolist()
    return msg


def wrench_message(content: WrenchContent, prefix: str = "") -> Any:
    """A ``geometry_msgs/WrenchStamped``, with a prefix of the name of the frame."""
    (kind,) = message("geometry_msgs", "WrenchStamped")
    msg = kind()
    _stamp(msg, content.stamp)
    msg.header.frame_id = prefix + content.frame_id
    _fill(msg.wrench.force, content.force)
    _fill(msg.wrench.torque, content.torque)
    return msg


def multi_joint_message(
    joints: list[tuple[str, Transform, NDArray[np.float64]]], stamp: Stamp
) -> Any:
    """A ``sensor_msgs/MultiDOFJointState`` of names, poses and twists."""
    (kind,) = message("sensor_msgs", "MultiDOFJointState")
    pose, speed = message("geometry_msgs", "Transform", "Twist")
    msg = kind(joint_names=[name for name, _, _ in joints])
    _stamp(msg, stamp)
    for _, transform, twist in joints:
        one, rate = pose(), speed()
        _place(one, transform)
        _fill(rate.linear, twist[:3])
        _fill(rate.angular, twist[3:])
        msg.transforms.append(one)
        msg.twist.append(rate)
    return msg


def sensor_message_class(form: Form) -> Any:
    """The class of messages of a form."""
    package, name = SENSOR_MESSAGES[form]
    (kind,) = message(package, name)
    return kind


def sensor_message(content: SensorContent, prefix: str = "") -> Any:
    """The message of a sensor, which its form says, with a prefix of the name of the frame."""
    msg, numbers = sensor_message_class(content.form)(), content.numbers
    if content.form is Form.NUMBERS:
        msg.data = numbers.tolist()
        return msg
    _stamp(msg, content.stamp)
    msg.header.frame_id = prefix + content.frame_id
    if content.form is Form.IMU:
        _fill(msg.linear_acceleration, numbers[:3])
        _fill(msg.angular_velocity, numbers[3:])
        msg.orientation_covariance = [-1.0, *[0.0] * 8]  # it measures no orientation
    elif content.form is Form.WRENCH:
        _fill(msg.wrench.force, numbers[:3])
        _fill(msg.wrench.torque, numbers[3:])
    else:
        _fill(msg.point if content.form is Form.POINT else msg.vector, numbers)
    return msg


def transform_message(transforms: list[Transform], stamp: Stamp, prefix: str = "") -> Any:
    """A ``tf2_msgs/TFMessage``, with a prefix of the names of frames."""
    (kind,) = message("tf2_msgs", "TFMessage")
    (stamped,) = message("geometry_msgs", "TransformStamped")
    msg = kind()
    for transform in transforms:
        one = stamped(child_frame_id=prefix + transform.child)
        _stamp(one, stamp)
        one.header.frame_id = prefix + transform.parent
        _place(one.transform, transform)
        msg.transforms.append(one)
    return msg


def _stamp(msg: Any, stamp: Stamp) -> None:
    msg.header.stamp.sec, msg.header.stamp.nanosec = stamp


def _fill(vector: Any, values: NDArray[np.float64]) -> None:
    vector.x, vector.y, vector.z = (float(value) for value in values)


def _place(transform: Any, values: Transform) -> None:
    _fill(transform.translation, values.translation)
    x, y, z, w = (float(value) for value in values.rotation)
    transform.rotation.x, transform.rotation.y = x, y
    transform.rotation.z, transform.rotation.w = z, w
