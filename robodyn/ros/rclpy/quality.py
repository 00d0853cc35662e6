"""Quality of service of the topics, by ROS conventions."""

from __future__ import annotations

from typing import Any

from robodyn.ros.rclpy.access import rclpy

__all__ = ["command_quality", "latched_quality", "state_quality"]


def state_quality() -> Any:
    """QoS of state topics: reliable, volatile, depth 10."""
    return _quality(10, latched=False)


def latched_quality() -> Any:
    """QoS of latched topics: late subscribers get the last message."""
    return _quality(1, latched=True)


def command_quality() -> Any:
    """QoS of command topics: reliable, depth 1, so that only the newest command is kept."""
    return _quality(1, latched=False)


def _quality(depth: int, *, latched: bool) -> Any:
    rclpy()
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

    durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    return QoSProfile(depth=depth, durability=durability, reliability=ReliabilityPolicy.RELIABLE)
