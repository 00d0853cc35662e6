"""Options for loading a robot, of every command that takes one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.cli.options.completed import FOLDER, completed, robots_and_files
from robodyn.cli.options.near import add_near, near
from robodyn.cli.options.values import number
from robodyn.errors import RobodynError
from robodyn.urdf import bundled_robots

__all__ = ["add_robot", "add_robot_options", "reading_options", "robot_options"]

#: Arguments of `robodyn.load` that affect reading the file, not the robot made from it.
READING = ("package_dirs", "xacro_args", "xacro", "allow_unphysical", "strict", "model")


def add_robot(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add the argument ``robot``, which may be left out if there is a default."""
    told = f" (default {default})" if default else ""
    count = "?" if default else None
    text = f"URDF file, or one of {', '.join(bundled_robots())}{told}"
    action = parser.add_argument("robot", nargs=count, default=default, help=text)
    completed(action, robots_and_files())


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group: Any = parser.add_argument_group(
        "how the robot is read", "NAME:=VALUE, anywhere, is an argument of a xacro file"
    )
    group.add_argument(
        "--lenient",
        action="store_true",
        help="read what other readers skip or accept as they do, and warn of it",
    )
    group.add_argument(
        "--xacro", action=argparse.BooleanOptionalAction,
        help="expand what looks like xacro, a program; by default if the name ends in .xacro",
    )  # fmt: skip
    package = group.add_argument(
        "--package", action="append", default=[], metavar="DIR",
        help="folder of a ROS package, or one that contains packages; NAME=DIR gives it a name",
    )  # fmt: skip
    completed(package, FOLDER)
    group.add_argument("--model", metavar="NAME", help="the model meant of an SDF file of several")
    group.add_argument(
        "--allow-unphysical", action="store_true", help="accept inertias that no body can have"
    )
    group.add_argument(
        "--rigid", action="store_true",
        help="take closed linkages to the letter, also where only rounding holds them",
    )  # fmt: skip
    add_near(group)
    group.add_argument(
        "--closure-tolerance", metavar="GAP",
        type=number("--closure-tolerance", above=0.0),
        help="largest gap of closed loops: rad, or a part of their longest link (1e-6)",
    )  # fmt: skip


def robot_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of `robodyn.load` for the options that were given."""
    options = {
        "strict": False if arguments.lenient else None,
        "package_dirs": [_package(text) for text in arguments.package] or None,
        "model": arguments.model,
        "allow_unphysical": arguments.allow_unphysical or None,
        "rigid": arguments.rigid or None,
        "near": near(arguments),
        "closure_tolerance": arguments.closure_tolerance,
        "xacro_args": arguments.xacro_args or None,
        "xacro": arguments.xacro,
    }
    return {name: value for name, value in options.items() if value is not None}


def reading_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `robot_options` that affect reading the file."""
    return {name: options[name] for name in READING if name in options}


def _package(text: str) -> Path | tuple[str, Path]:
    """Parse ``DIR`` or ``NAME=DIR``."""
    name, equals, folder = text.partition("=")
    if not equals or Path(text).is_dir():
        name, folder = "", text
    elif not name:
        raise RobodynError(f"--package is {text!r}, expected DIR or NAME=DIR")
    if not (folder and Path(folder).is_dir()):
        raise RobodynError(
            f"--package is {text!r}, expected DIR or NAME=DIR: there is no folder {folder!r}"
        )
    return (name, Path(folder)) if name else Path(folder)
