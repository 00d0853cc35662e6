"""Types of the messages in a bag of joint states."""

from __future__ import annotations

__all__ = ["JOINT_STATE", "MULTI_DOF", "NUMBERS", "TEXT"]

JOINT_STATE = "sensor_msgs/msg/JointState"
MULTI_DOF = "sensor_msgs/msg/MultiDOFJointState"
NUMBERS = "std_msgs/msg/Float64MultiArray"
TEXT = "std_msgs/msg/String"
