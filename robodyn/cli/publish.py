"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse
import sys

import robodyn as rd
from robodyn.cli.options.robot import robot_options
from robodyn.cli.options.ros import (
    Signals,
    add_node_options,
    add_robot_of_node,
    check_together,
    run_node,
)
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.pacing import summary
from robodyn.ros.engine.settings import CONTROLLERS, INTERFACES, Settings
from robodyn.ros.engine.throttled_logger import ThrottledLogger
from robodyn.ros.rclpy.node import SimLifecycleNode, SimNode


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, usual = parser.add_argument, Settings()
    add_robot_of_node(parser, "robodyn")
    add("--rate", type=float, default=usual.rate, help="of publication, Hz")
    add("--step", type=float, default=usual.step, help="of integration, seconds")
    add("--factor", type=float, default=1.0, help="of real time")
    add("--controller", default=usual.controller, help=", ".join(CONTROLLERS))
    add("--interface", choices=INTERFACES, default="effort", help="what commands mean")
    add_node_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    options = robot_options(arguments)
    check_together("publish", arguments, options)
    settings = Settings(
        rate=arguments.rate,
        step=arguments.step,
        real_time_factor=arguments.factor,
        controller=arguments.controller,
        interfaces=(arguments.interface,),
    )
    with Signals() as signals:
        robot = None
        if arguments.robot:
            robot = rd.load(arguments.robot, base=arguments.base, **options)
        if robot is not None and arguments.dds:
            _publish_dds(arguments, robot, settings)
        else:
            _publish(arguments, robot, settings, signals)
    return 0


def _publish(
    arguments: argparse.Namespace, robot: rd.Robot | None, settings: Settings, signals: Signals
) -> None:
    kind = SimLifecycleNode if arguments.lifecycle else SimNode
    run_node(
        arguments,
        signals,
        lambda: kind(robot, name=arguments.name, settings=settings),
        lambda node: summary(node.published, node.overruns) if node else summary(0, 0),
    )


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
