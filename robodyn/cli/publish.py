"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn.cli.options.robot import add_robot_options, robot_options

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    publish = commands.add_parser("publish", help="simulate a robot behind ROS topics")
    from robodyn.ros.command import add_arguments

    add_arguments(publish)
    add_robot_options(publish)
    publish.set_defaults(run=_publish)


def _publish(arguments: argparse.Namespace) -> int:
    from robodyn.ros.command import publish

    return publish(arguments, robot_options(arguments))
