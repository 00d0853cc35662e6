"""The command ``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse
import math
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any, Self

import robodyn as rd
from robodyn.errors import RobodynError
from robodyn.ros.dds.command import add_dds_arguments, publish_dds
from robodyn.ros.engine.pacing import summary
from robodyn.ros.engine.settings import CONTROLLERS, INTERFACES, Settings
from robodyn.ros.rclpy.access import rclpy, start
from robodyn.ros.rclpy.lifecycle import SimLifecycleNode
from robodyn.ros.rclpy.node import SimNode

#: Seconds after a signal that ends a node in which others ask for the same.
SAME_REQUEST = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "robot", nargs="?", help="URDF file or bundled robot; default: parameter robot_description"
    )
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    parser.add_argument("--name", default="robodyn", help="of the node (default robodyn)")
    start = Settings()
    parser.add_argument("--rate", type=float, default=start.rate, help="of publication, Hz")
    parser.add_argument("--step", type=float, default=start.step, help="of integration, seconds")
    parser.add_argument("--factor", type=float, default=1.0, help="of real time")
    parser.add_argument("--controller", default=start.controller, help=", ".join(CONTROLLERS))
    parser.add_argument(
        "--interface", choices=INTERFACES, default="effort", help="what commands mean"
    )
    parser.add_argument("--lifecycle", action="store_true", help="a managed node")
    parser.add_argument(
        "--network", action="store_true", help="reach the local network, not this computer only"
    )
    add_dds_arguments(parser)
    parser.add_argument(
        "--ros-args", nargs=argparse.REMAINDER, default=[], help="all that follows goes to ROS"
    )


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        rate=arguments.rate,
        step=arguments.step,
        real_time_factor=arguments.factor,
        controller=arguments.controller,
        interfaces=(arguments.interface,),
    )


def _check_together(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect with, or without, ``--dds``."""
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
            raise RobodynError(f"publish {how} --dds has no {option}")


def publish(arguments: argparse.Namespace, options: Mapping[str, Any]) -> int:
    """Run the command; returns the exit status.

    options: Further arguments of `robodyn.load`.
    """
    _check_together(arguments)
    with _Signals() as signals:
        return _publish(arguments, options, signals)


class _Signals:
    """Context in which SIGTERM, as service managers send it, ends a program as Ctrl-C does.

    expected: One signal is no interrupt: something else ends the program then, as rclpy its
        spinning. Nor is another one soon after it: a terminal and ``ros2 launch`` both send one.
    """

    def __init__(self) -> None:
        self.expected = False
        self._soon = -math.inf
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, frame: object) -> None:
        if self.expected:
            self.expected, self._soon = False, time.monotonic() + SAME_REQUEST
        elif time.monotonic() > self._soon:
            raise KeyboardInterrupt


def _publish(arguments: argparse.Namespace, options: Mapping[str, Any], signals: _Signals) -> int:
    if options and not arguments.robot:
        raise RobodynError(f"{', '.join(options)} given, but no file: they are for reading one")
    settings = _settings(arguments)
    if arguments.dds:
        if not arguments.robot:
            raise RobodynError("publish --dds needs a URDF file or the name of a bundled robot")
        return publish_dds(arguments, settings, options)
    robot = rd.load(arguments.robot, base=arguments.base, **options) if arguments.robot else None
    ros = ["--ros-args", *arguments.ros_args] if arguments.ros_args else []
    start(ros, network=arguments.network)
    kind = SimLifecycleNode if arguments.lifecycle else SimNode
    signals.expected = True
    text = summary(0, 0)
    try:
        node = kind(robot, name=arguments.name, settings=settings)
        try:
            node.spin()
        finally:
            text = summary(node.published, node.overruns)
            node.close()
    except Exception:
        if rclpy().ok():
            raise  # else a signal shut ROS down while the node started
    finally:
        rclpy().try_shutdown()
    print(text, flush=True)
    return 0
