"""ROS 2: messages, a simulated robot as a node, and a controller node for a real robot.

Importing this package does not need ROS. Making a `SimNode` or a `StateListener` does.
"""

from __future__ import annotations

from robodyn.ros.commands.settings import Settings
from robodyn.ros.commands.trajectories import TrajectoryContent, TrajectoryPoint, trajectory_paths
from robodyn.ros.engine.engine import Engine
from robodyn.ros.rclpy.listener import StateListener
from robodyn.ros.rclpy.node import SimLifecycleNode, SimNode
from robodyn.ros.rclpy.relay import RelayNode
from robodyn.ros.relay.relay import Relay, RelayedState
from robodyn.ros.relay.relay_topics import RelayTopics
from robodyn.ros.states.messages import (
    JointStateContent,
    Measured,
    StateNames,
    WrenchContent,
    wrench_content,
)

__all__ = [
    "Engine",
    "JointStateContent",
    "Measured",
    "Relay",
    "RelayNode",
    "RelayTopics",
    "RelayedState",
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
