"""``robodyn relay``: driven joints in, all joints, poses of links and loads out, on ROS topics."""

from __future__ import annotations

import argparse

import robodyn as rd
from robodyn.cli.options.ros import add_node_options, add_robot_of_node, run_command
from robodyn.cli.options.values import add as add_many
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.relay import DdsRelay
from robodyn.ros.rclpy.relay import RelayNode
from robodyn.ros.relay.relay_topics import RelayTopics, summary
from robodyn.ros.states.throttled_logger import ThrottledLogger


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, usual = parser.add_argument, RelayTopics()
    add_robot_of_node(parser, "relay")
    add("--states", default=usual.states, help=f"topic of messages (default {usual.states})")
    add("--answers", default=usual.answers, help=f"topic of all joints (default {usual.answers})")
    text = "a joint of which loads are offered (default: all that move)"
    add_many(parser, "--wrenches", text, many=True, metavar="JOINT")
    add("--frame-prefix", default="", help="in front of names of links")
    add("--no-tf", action="store_true", help="publish neither /tf nor /tf_static")
    add_node_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    topics = RelayTopics(
        states=arguments.states,
        answers=arguments.answers,
        tf=not arguments.no_tf,
        frame_prefix=arguments.frame_prefix,
        wrenches=tuple(arguments.wrenches),
    )

    def of_ros(robot: rd.Robot | None) -> RelayNode:
        return RelayNode(robot, name=arguments.name, topics=topics, lifecycle=arguments.lifecycle)

    def of_dds(robot: rd.Robot, node: DdsNode, log: ThrottledLogger) -> tuple[DdsRelay, str]:
        into, out = map(node.resolved, (topics.states, topics.answers))
        return DdsRelay(robot, node, log, topics), f"{robot.name}: {into} is answered on {out}"

    answered = lambda x: x.summary if x else summary(0, 0)  # noqa: E731
    return run_command(arguments, "relay", of_ros, of_dds, answered)
