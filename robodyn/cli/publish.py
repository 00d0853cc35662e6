"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse

from robodyn.cli.options.robot import add_robot_options, robot_options


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from robodyn.ros.command import add_arguments

    add_arguments(parser)
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    from robodyn.ros.command import publish

    return publish(arguments, robot_options(arguments))
