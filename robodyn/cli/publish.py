"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse
import atexit
import math
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Self

import robodyn as rd
from robodyn.cli.options.robot import add_robot_options, robot_options
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.pacing import summary
from robodyn.ros.engine.settings import CONTROLLERS, INTERFACES, Settings
from robodyn.ros.engine.throttled_logger import ThrottledLogger
from robodyn.ros.rclpy.access import rclpy, start
from robodyn.ros.rclpy.node import SimLifecycleNode, SimNode

#: Seconds after a signal that ends a node in which others ask for the same.
SAME_REQUEST = 1.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, usual = parser.add_argument, Settings()
    text = "URDF file or bundled robot; default: parameter robot_description"
    add("robot", nargs="?", help=text)
    add("--base", choices=("fixed", "floating"), default="fixed")
    add("--name", default="robodyn", help="of the node (default robodyn)")
    add("--rate", type=float, default=usual.rate, help="of publication, Hz")
    add("--step", type=float, default=usual.step, help="of integration, seconds")
    add("--factor", type=float, default=1.0, help="of real time")
    add("--controller", default=usual.controller, help=", ".join(CONTROLLERS))
    add("--interface", choices=INTERFACES, default="effort", help="what commands mean")
    add("--lifecycle", action="store_true", help="a managed node")
    add("--network", action="store_true", help="reach the local network, not this computer only")
    add("--dds", action="store_true", help="without ROS installed (extra dds)")
    add("--domain", type=int, help="with --dds; default: ROS_DOMAIN_ID, or 0")
    add("--duration", type=float, default=math.inf, help="with --dds, seconds")
    text = "all that follows goes to ROS"
    add("--ros-args", nargs=argparse.REMAINDER, default=[], help=text)
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    options = robot_options(arguments)
    _check_together(arguments, options)
    settings = Settings(
        rate=arguments.rate,
        step=arguments.step,
        real_time_factor=arguments.factor,
        controller=arguments.controller,
        interfaces=(arguments.interface,),
    )
    with _Signals() as signals:
        robot = None
        if arguments.robot:
            robot = rd.load(arguments.robot, base=arguments.base, **options)
        if robot is not None and arguments.dds:
            _publish_dds(arguments, robot, settings)
        else:
            _publish(arguments, robot, settings, signals)
    return 0


def _check_together(arguments: argparse.Namespace, options: Mapping[str, Any]) -> None:
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
            raise rd.RobodynError(f"publish {how} --dds has no {option}")
    if options and not arguments.robot:
        raise rd.RobodynError(f"{', '.join(options)} given, but no file: they are for reading one")
    if arguments.dds and not arguments.robot:
        raise rd.RobodynError("publish --dds needs a URDF file or the name of a bundled robot")


class _Signals:
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


def _publish(
    arguments: argparse.Namespace, robot: rd.Robot | None, settings: Settings, signals: _Signals
) -> None:
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


def _publish_dds(arguments: argparse.Namespace, robot: rd.Robot, settings: Settings) -> None:
    log = ThrottledLogger(lambda text: print(f"robodyn: {text}", file=sys.stderr, flush=True))
    engine = Engine(robot, settings, log=log)
    node = DdsNode(arguments.name, domain=arguments.domain, network=arguments.network)
    try:
        sim = DdsSimulation(engine, node, log)
        try:
            print(
                f"{robot.name}: {settings.rate:g} states a second on "
                f"{node.resolved('joint_states')}, {arguments.interface} commands for "
                f"{', '.join(engine.joints) or 'no joint'} on {node.resolved('~/commands')}; "
                "Ctrl-C ends",
                flush=True,
            )
            sim.run(arguments.duration)
        except KeyboardInterrupt:
            print()
    finally:
        node.close()
        log.close()
    print(summary(sim.published, sim.overruns), flush=True)
