"""ROS: messages, a simulated robot behind the usual topics, and a listener to a real one.

Nothing here needs ROS to be imported; `SimNode` and `StateListener` need it to be made.
"""

from __future__ import annotations

from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.messages import (
    JointStateContent,
    Measured,
    StateNames,
    WrenchContent,
    wrench_content,
)
from robodyn.ros.engine.settings import Settings
from robodyn.ros.engine.trajectories import TrajectoryContent, TrajectoryPoint, trajectory_paths
from robodyn.ros.rclpy.lifecycle import SimLifecycleNode
from robodyn.ros.rclpy.listener import StateListener
from robodyn.ros.rclpy.node import SimNode

__all__ = [
    "Engine",
    "JointStateContent",
    "Measured",
    "Settings",
    "SimLifecycleNode",
    "SimNode",
    "StateListener",
    "StateNames",
    "TrajectoryContent",
    "TrajectoryPoint",
    "WrenchContent",
    "trajectory_paths",
    "wrench_content",
]
