"""Quality of service of each topic, as ROS conventions have it."""

from __future__ import annotations

from typing import Any

from robodyn.ros.rclpy.access import rclpy

__all__ = ["command_quality", "latched_quality", "state_quality"]


def state_quality() -> Any:
    """Of state: reliable, nothing kept for late joiners, ten deep."""
    return _quality(10, latched=False)


def latched_quality() -> Any:
    """Of what a late joiner gets, too: the last message."""
    return _quality(1, latched=True)


def command_quality() -> Any:
    """Of commands: reliable, the newest only, so that a flood does not queue."""
    return _quality(1, latched=False)


def _quality(depth: int, *, latched: bool) -> Any:
    rclpy()
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

    durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    return QoSProfile(depth=depth, durability=durability, reliability=ReliabilityPolicy.RELIABLE)
