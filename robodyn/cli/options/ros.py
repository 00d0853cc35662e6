"""What commands that are ROS nodes have in common: options, signals, start and end."""

from __future__ import annotations

import argparse
import atexit
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import robodyn as rd
from robodyn.cli.options.robot import add_robot_options, robot_options
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.rclpy.access import rclpy, start
from robodyn.ros.states.throttled_logger import ThrottledLogger

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


def _check(command: str, arguments: argparse.Namespace, options: Mapping[str, Any]) -> None:
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


def run_command(
    arguments: argparse.Namespace,
    command: str,
    of_ros: Callable[[rd.Robot | None], Any],
    of_dds: Callable[[rd.Robot, DdsNode, ThrottledLogger], tuple[Any, str]],
    summary: Callable[[Any], str],
) -> int:
    """Make what a command runs of its robot, run it until a signal comes, and print a summary.

    of_ros: Makes a node of rclpy.
    of_dds: Makes what runs without ROS, and says what is printed at the start.
    summary: Of the one or the other, or of ``None`` where it has not started.
    """
    options = robot_options(arguments)
    _check(command, arguments, options)
    with Signals() as signals:
        robot = None
        if arguments.robot:
            robot = rd.load(arguments.robot, base=arguments.base, **options)
        if robot is not None and arguments.dds:
            text = _run_dds(arguments, lambda *given: of_dds(robot, *given), summary)
        else:
            text = _run_node(arguments, signals, lambda: of_ros(robot), summary)
    print(text, flush=True)
    return 0


def _run_node(
    arguments: argparse.Namespace,
    signals: Signals,
    make: Callable[[], Any],
    summary: Callable[[Any], str],
) -> str:
    """Serve a node of rclpy until a signal comes."""
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
    return text


def _run_dds(
    arguments: argparse.Namespace,
    make: Callable[[DdsNode, ThrottledLogger], tuple[Any, str]],
    summary: Callable[[Any], str],
) -> str:
    """Run without ROS for the duration, or until a signal comes."""
    log = ThrottledLogger(lambda text: print(f"robodyn: {text}", file=sys.stderr, flush=True))
    node = DdsNode(arguments.name, domain=arguments.domain, network=arguments.network)
    try:
        made, text = make(node, log)
        try:
            print(f"{text}; Ctrl-C ends", flush=True)
            made.run(arguments.duration)
        except KeyboardInterrupt:
            print()
    finally:
        node.close()
        log.close()
    return summary(made)
