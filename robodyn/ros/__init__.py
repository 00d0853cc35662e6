"""ROS: messages, a simulated robot behind the usual topics, and a listener to a real one.

Nothing here needs ROS to be imported; `SimNode` and `StateListener` need it to be made.
"""

from __future__ import annotations

from robodyn.ros.engine import Engine
from robodyn.ros.lifecycle import SimLifecycleNode
from robodyn.ros.listener import StateListener
from robodyn.ros.messages import (
    JointStateContent,
    Measured,
    StateNames,
    WrenchContent,
    wrench_content,
)
from robodyn.ros.node import SimNode
from robodyn.ros.settings import Settings
from robodyn.ros.trajectories import TrajectoryContent, TrajectoryPoint, trajectory_paths

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
