"""``robodyn check``: errors and warnings about files."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn.checking import check_files
from robodyn.cli.options.robot import add_robot_options, robot_options
from robodyn.cli.options.wording import with_options

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    check = commands.add_parser("check", help="validate URDF files; exit status 2 if one is bad")
    check.add_argument("file", nargs="+")
    check.add_argument(
        "--json",
        action="store_true",
        help="print a list of file, line, element, severity, message, suggestion",
    )
    add_robot_options(check)
    check.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> int:
    options = robot_options(arguments)
    files, as_json = arguments.file, arguments.json
    sound = check_files(files, as_json=as_json, options=options, wording=with_options)
    return 0 if sound else 2
