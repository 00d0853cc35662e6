"""``robodyn relay``: driven joints in, all joints, poses of links and loads out, on ROS topics."""

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
from robodyn.cli.options.values import add as add_many
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.relay import DdsRelay
from robodyn.ros.engine.relay_topics import RelayTopics, summary
from robodyn.ros.engine.throttled_logger import ThrottledLogger
from robodyn.ros.rclpy.relay import RelayNode


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
    options = robot_options(arguments)
    check_together("relay", arguments, options)
    topics = RelayTopics(
        states=arguments.states,
        answers=arguments.answers,
        tf=not arguments.no_tf,
        frame_prefix=arguments.frame_prefix,
        wrenches=tuple(arguments.wrenches),
    )
    with Signals() as signals:
        robot = None
        if arguments.robot:
            robot = rd.load(arguments.robot, base=arguments.base, **options)
        if robot is not None and arguments.dds:
            _relay_dds(arguments, robot, topics)
            return 0
        name, managed = arguments.name, arguments.lifecycle
        run_node(
            arguments,
            signals,
            lambda: RelayNode(robot, name=name, topics=topics, lifecycle=managed),
            lambda node: node.summary if node else summary(0, 0),
        )
    return 0


def _relay_dds(arguments: argparse.Namespace, robot: rd.Robot, topics: RelayTopics) -> None:
    log = ThrottledLogger(lambda text: print(f"robodyn: {text}", file=sys.stderr, flush=True))
    node = DdsNode(arguments.name, domain=arguments.domain, network=arguments.network)
    try:
        relay = DdsRelay(robot, node, log, topics)
        try:
            print(
                f"{robot.name}: {node.resolved(topics.states)} is answered on "
                f"{node.resolved(topics.answers)}; Ctrl-C ends",
                flush=True,
            )
            relay.run(arguments.duration)
        except KeyboardInterrupt:
            print()
    finally:
        node.close()
        log.close()
    print(relay.outputs.summary, flush=True)
