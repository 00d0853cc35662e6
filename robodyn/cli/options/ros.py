"""What commands that are ROS nodes have in common: options, signals, start and end."""

from __future__ import annotations

import argparse
import atexit
import math
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import robodyn as rd
from robodyn.cli.options.robot import add_robot_options
from robodyn.ros.rclpy.access import rclpy, start

#: Seconds after a signal that ends a node in which others ask for the same.
SAME_REQUEST = 1.0


def add_robot_of_node(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the robot of a node, and the node's own name."""
    text = "URDF file or bundled robot; default: parameter robot_description"
    parser.add_argument("robot", nargs="?", help=text)
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    parser.add_argument("--name", default=name, help=f"of the node (default {name})")


def add_node_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of transports, and of how the robot is read."""
    add = parser.add_argument
    add("--lifecycle", action="store_true", help="a managed node")
    add("--network", action="store_true", help="reach the local network, not this computer only")
    add("--dds", action="store_true", help="without ROS installed (extra dds)")
    add("--domain", type=int, help="with --dds; default: ROS_DOMAIN_ID, or 0")
    add("--duration", type=float, default=math.inf, help="with --dds, seconds")
    text = "all that follows goes to ROS"
    add("--ros-args", nargs=argparse.REMAINDER, default=[], help=text)
    add_robot_options(parser)


def check_together(command: str, arguments: argparse.Namespace, options: Mapping[str, Any]) -> None:
    """Refuse options that would have no effect with, or without, ``--dds`` or a file."""
    if arguments.dds:
        wrong = {"--lifecycle": arguments.lifecycle, "--ros-args": arguments.ros_args}
    else:
        wrong = {
            "--domain (set ROS_DOMAIN_ID instead)": arguments.domain is not None,
            "--duration": arguments.duration != math.inf,
        }
    for option, given in wrong.items():
        if given:
            how = "with" if arguments.dds else "without"
            raise rd.RobodynError(f"{command} {how} --dds has no {option}")
    if options and not arguments.robot:
        raise rd.RobodynError(f"{', '.join(options)} given, but no file: they are for reading one")
    if arguments.dds and not arguments.robot:
        raise rd.RobodynError(f"{command} --dds needs a URDF file or the name of a bundled robot")


class Signals:
    """Context in which SIGTERM, as service managers send it, ends a program as Ctrl-C does.

    Others soon after it ask for the same, as a terminal and ``ros2 launch`` both send one: they are
    no interrupts, nor do they end the program before its end.

    expected: A signal is no interrupt: something else ends the program then, as rclpy its spinning.
    """

    def __init__(self) -> None:
        self.expected = False
        self._until = -math.inf
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        ending = self._until > -math.inf
        for number, handler in self._before.items():
            if ending:  # Python gives its own handlers up before it has ended
                atexit.register(signal.signal, number, signal.SIG_IGN)
            else:
                signal.signal(number, handler)

    def _interrupt(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if now <= self._until:
            return
        self._until = now + SAME_REQUEST
        if not self.expected:
            raise KeyboardInterrupt
        self.expected = False


def run_node(
    arguments: argparse.Namespace,
    signals: Signals,
    make: Callable[[], Any],
    summary: Callable[[Any], str],
) -> None:
    """Make a node of rclpy, serve it until a signal comes, and print a summary of it.

    summary: Of the node, or of ``None`` where it has not started.
    """
    ros = ["--ros-args", *arguments.ros_args] if arguments.ros_args else []
    start(ros, network=arguments.network)
    signals.expected = True
    text = summary(None)
    try:
        node = make()
        try:
            node.spin()
        finally:
            text = summary(node)
            node.close()
    except Exception:
        if rclpy().ok():
            raise  # else a signal shut ROS down while the node started
    finally:
        rclpy().try_shutdown()
    print(text, flush=True)
