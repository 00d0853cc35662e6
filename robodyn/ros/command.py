"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse

import robodyn as rd
from robodyn.errors import RobodynError
from robodyn.ros.lifecycle import SimLifecycleNode
from robodyn.ros.node import SimNode
from robodyn.ros.rclpy_access import rclpy, start
from robodyn.ros.settings import Settings
from robodyn.ros.wire_command import add_dds_arguments, publish_dds

__all__ = ["add_arguments", "publish"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "robot", nargs="?", help="URDF file or bundled robot; default: parameter robot_description"
    )
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    parser.add_argument("--name", default="robodyn", help="of the node (default robodyn)")
    parser.add_argument("--rate", type=float, default=200.0, help="of publication, Hz")
    parser.add_argument("--controller", default="none", help="none, gravity, pd, computed_torque")
    parser.add_argument("--lifecycle", action="store_true", help="a managed node")
    parser.add_argument(
        "--network", action="store_true", help="reach the local network, not this computer only"
    )
    add_dds_arguments(parser)
    parser.add_argument(
        "--ros-args", nargs=argparse.REMAINDER, default=[], help="all that follows goes to ROS"
    )


def publish(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit status."""
    if arguments.dds:
        if not arguments.robot:
            raise RobodynError("publish --dds needs a URDF file or the name of a bundled robot")
        return publish_dds(arguments)
    robot = rd.load(arguments.robot, base=arguments.base) if arguments.robot else None
    settings = Settings(rate=arguments.rate, controller=arguments.controller)
    ros = ["--ros-args", *arguments.ros_args] if arguments.ros_args else []
    start(ros, network=arguments.network)
    kind = SimLifecycleNode if arguments.lifecycle else SimNode
    try:
        node = kind(robot, name=arguments.name, settings=settings)
        try:
            node.spin()
        finally:
            node.close()
    finally:
        rclpy().try_shutdown()
    return 0
