"""The command ``robodyn publish --dds``: a simulated robot on ROS 2 topics, without ROS."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from typing import Any

import robodyn as rd
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.pacing import summary
from robodyn.ros.engine.settings import Settings
from robodyn.ros.engine.throttled_logger import ThrottledLogger


def add_dds_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``robodyn publish`` that belong to ``--dds``."""
    parser.add_argument("--dds", action="store_true", help="without ROS installed (extra dds)")
    parser.add_argument("--domain", type=int, help="with --dds; default: ROS_DOMAIN_ID, or 0")
    parser.add_argument("--duration", type=float, default=math.inf, help="with --dds, seconds")


def publish_dds(
    arguments: argparse.Namespace, settings: Settings, options: Mapping[str, Any]
) -> int:
    """Run the command with ``--dds``; returns the exit status.

    options: Further arguments of `robodyn.load`.
    """
    robot = rd.load(arguments.robot, base=arguments.base, **options)
    log = ThrottledLogger(lambda text: print(f"robodyn: {text}", file=sys.stderr, flush=True))
    engine = Engine(robot, settings, log=log)
    node = DdsNode(arguments.name, domain=arguments.domain, network=arguments.network)
    try:
        sim = DdsSimulation(engine, node, log)
        print(
            f"{robot.name}: {settings.rate:g} states a second on {node.resolved('joint_states')}, "
            f"{arguments.interface} commands for {', '.join(engine.joints) or 'no joint'} on "
            f"{node.resolved('~/commands')}; Ctrl-C ends",
            flush=True,
        )
        try:
            sim.run(arguments.duration)
        except KeyboardInterrupt:
            print()
    finally:
        node.close()
        log.close()
    print(summary(sim.published, sim.overruns), flush=True)
    return 0
