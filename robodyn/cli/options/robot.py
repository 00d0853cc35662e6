"""Options for loading a robot, of every command that takes one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.values import FOLDER, add, named_once, number
from robodyn.errors import RobodynError
from robodyn.urdf import bundled_robots

#: Arguments of `robodyn.load` that affect reading the file, not the robot made from it.
READING = ("package_dirs", "xacro_args", "xacro", "allow_unphysical", "strict", "model")

#: What a robot may stand on.
ANY_BASE = ("fixed", "floating", "moving")


def add_robot(
    parser: argparse.ArgumentParser, default: str | None = None, bases: Sequence[str] = ()
) -> None:
    """Add the argument ``robot``, and options of how it is read and of its base.

    It may be left out if there is a default.
    """
    preset = f" (default {default})" if default else ""
    text = f"URDF file, or one of {', '.join(bundled_robots())}{preset}"
    count = "?" if default else None
    add(parser, "robot", text, complete=robots_and_files(), nargs=count, default=default)
    if bases:
        parser.add_argument("--base", choices=bases, default="fixed")
    add_robot_options(parser)


def robots_and_files() -> dict[str, Any]:
    """Completion of names of bundled robots, and of files."""
    names = " ".join(bundled_robots())
    call = "_robodyn_robots_and_files"
    return {
        "bash": call,
        "zsh": call,
        "fish": f"({call})",
        "preamble": {
            "bash": f'{call}() {{ compgen -W "{names}" -- "$1"; compgen -f -- "$1"; }}',
            "zsh": f"{call}() {{ compadd -- {names}; _files }}",
            "fish": f"function {call}\n    printf '%s\\n' {names}\n"
            "    __fish_complete_path (commandline -ct)\nend",
        },
    }


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "how the robot is read", "NAME:=VALUE, anywhere, is an argument of a xacro file"
    )
    lenient = "read what other readers skip or accept as they do, and warn of it"
    add(group, "--lenient", lenient, action="store_true")
    xacro = "expand what looks like xacro, a program; by default if the name ends in .xacro"
    add(group, "--xacro", xacro, action=argparse.BooleanOptionalAction)
    package = "folder of a ROS package, or one that contains packages; NAME=DIR gives it a name"
    add(group, "--package", package, complete=FOLDER, many=True, metavar="DIR")
    add(group, "--model", "the model meant of an SDF file of several", metavar="NAME")
    unphysical = "accept inertias that no body can have"
    add(group, "--allow-unphysical", unphysical, action="store_true")
    rigid = "take closed linkages to the letter, also where only rounding holds them"
    add(group, "--rigid", rigid, action="store_true")
    near = "where to look for a posture with closed loops (rad, m; several numbers: 1,2,3)"
    add(group, "--near", near, many=True, metavar="JOINT=POSITION")
    gap = "largest gap of closed loops: rad, or a part of their longest link (1e-6)"
    add(group, "--closure-tolerance", gap, number(above=0.0), metavar="GAP")


def robot_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of `robodyn.load` for the options that were given."""
    options = {
        "strict": False if arguments.lenient else None,
        "package_dirs": [_package(text) for text in arguments.package] or None,
        "model": arguments.model,
        "allow_unphysical": arguments.allow_unphysical or None,
        "rigid": arguments.rigid or None,
        "near": named_once("--near", map(_near, arguments.near)) or None,
        "closure_tolerance": arguments.closure_tolerance,
        "xacro_args": arguments.xacro_args or None,
        "xacro": arguments.xacro,
    }
    return {name: value for name, value in options.items() if value is not None}


def reading_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `robot_options` that affect reading the file."""
    return {name: options[name] for name in READING if name in options}


def loaded(arguments: argparse.Namespace) -> rd.Robot:
    """The robot of the arguments."""
    return rd.load(arguments.robot, base=arguments.base, **robot_options(arguments))


def _near(text: str) -> tuple[str, list[float]]:
    """Parse ``JOINT=POSITION``, whose numbers `robodyn.load` checks."""
    name, _, numbers = text.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        name = ""
    if not name:
        raise RobodynError(f"--near is {text!r}, expected JOINT=POSITION")
    return name, values


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
