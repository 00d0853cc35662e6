"""``robodyn publish``: a simulated robot on ROS topics."""

from __future__ import annotations

import argparse

import robodyn as rd
from robodyn.cli.options.ros import add_node_options, add_robot_of_node, run_command
from robodyn.ros.commands.settings import CONTROLLERS, INTERFACES, Settings
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.pacing import summary
from robodyn.ros.rclpy.node import SimLifecycleNode, SimNode
from robodyn.ros.states.throttled_logger import ThrottledLogger


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
    settings = Settings(
        rate=arguments.rate,
        step=arguments.step,
        real_time_factor=arguments.factor,
        controller=arguments.controller,
        interfaces=(arguments.interface,),
    )
    kind = SimLifecycleNode if arguments.lifecycle else SimNode

    def of_ros(robot: rd.Robot | None) -> SimLifecycleNode | SimNode:
        return kind(robot, name=arguments.name, settings=settings)

    def of_dds(robot: rd.Robot, node: DdsNode, log: ThrottledLogger) -> tuple[DdsSimulation, str]:
        engine = Engine(robot, settings, log=log)
        return DdsSimulation(engine, node, log), (
            f"{robot.name}: {settings.rate:g} states a second on "
            f"{node.resolved('joint_states')}, {arguments.interface} commands for "
            f"{', '.join(engine.joints) or 'no joint'} on {node.resolved('~/commands')}"
        )

    published = lambda x: summary(x.published, x.overruns) if x else summary(0, 0)  # noqa: E731
    return run_command(arguments, "publish", of_ros, of_dds, published)
