"""``robodyn export``: write C source of a function of a robot."""

from __future__ import annotations

import argparse
from typing import Any

import robodyn as rd
from robodyn.cli.options.robot import add_robot_options, robot_options

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    export = commands.add_parser("export", help="print C source of a function")
    export.add_argument("robot")
    export.add_argument("function", help="inverse_dynamics, mass_matrix, ...")
    export.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    add_robot_options(export)
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot, base=arguments.base, **robot_options(arguments))
    print(robot.function(arguments.function).c_source(arguments.function))
    return 0
