"""Entry point of the command line: parses arguments, runs a command, reports errors."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence

import robodyn as rd
from robodyn.cli.options.output import with_options
from robodyn.errors import RobodynError

#: What the commands do, in the order of ``robodyn --help``. Each has a module, in a folder of its
#: own or here, that is imported when used: importing all takes longer than many commands.
COMMANDS = {
    "new": "make a starter project (a robot, a program, a README), or a package for ros2_control",
    "check": "validate URDF files; exit status 2 if one is bad",
    "info": "print tree, masses, limits, degrees of freedom",
    "sim": "simulate a robot: table and picture",
    "view": "show a robot in the browser (extra view)",
    "export": "write functions as code of other languages",
    "compile": "compile functions and a motion, so that programs find them on disk",
    "convert": "write a robot (URDF, xacro, MJCF, SDF, yaml) as URDF; print what is lost",
    "publish": "simulate a robot behind ROS topics",
    "relay": "complete joint states of driven joints on ROS topics: all joints, tf, loads",
    "bench": "time functions of a robot, beside those of Pinocchio if it is installed",
    "doctor": "check the installation; exit status 2 if something is wrong",
    "completion": "print a script by which a shell completes commands (extra completion)",
}
#: Commands with a folder of their own.
FOLDERS = ("new", "sim")
#: Commands that print no report.
WITHOUT_REPORT = ("view", "publish", "relay", "completion")
#: More about some of them.
DESCRIPTIONS = {
    "sim": (
        "Simulate a robot. What is not said otherwise: computed torque moves its motors along "
        "sines for 4 s, and a table and a picture are written."
    ),
    "completion": (
        "Print a script by which a shell completes commands, options and robots. bash, in "
        '~/.bashrc: eval "$(robodyn completion bash)". zsh, in ~/.zshrc after compinit: eval '
        '"$(robodyn completion zsh)". fish: robodyn completion fish > '
        "~/.config/fish/completions/robodyn.fish"
    ),
}

_XACRO_ARGUMENT = re.compile(r"([A-Za-z_]\w*):=(.*)", re.DOTALL)

#: Arguments after this one are those of ROS, which have the same form as those of xacro.
ROS = "--ros-args"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    The status is 0, or 2 for errors in the input and failed simulations, or 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # it may not be able to encode names of a robot
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        typed, xacro_args = _split_xacro_args(sys.argv[1:] if argv is None else argv)
        given = argparse.Namespace(xacro_args=xacro_args, all_commands=_parser)
        arguments = _parser(_commands_to_import(typed)).parse_args(typed, given)
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            status = int(arguments.run(arguments))
        print(end="", flush=True)  # sys.stdout may be None
        return status
    except BrokenPipeError:  # the reader has stopped, as in robodyn info robot.urdf | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RobodynError, OSError) as error:
        print(f"robodyn: {with_options(str(error))}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(with_options(note), file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Exception) as error:
        if not _is_interrupted(error):
            raise
        print("\nrobodyn: interrupted", file=sys.stderr)
        return 130


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning in one line, without its place in the code."""
    print(f"robodyn: warning: {with_options(str(message))}", file=sys.stderr)


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error; the code that it interrupts may raise another type."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _commands_to_import(typed: Sequence[str]) -> Sequence[str]:
    """The commands to import: the one that the line names, or all."""
    if typed and typed[0] == "--version":
        return ()
    return typed[:1] if typed and typed[0] in COMMANDS else tuple(COMMANDS)


def _parser(names: Sequence[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """A parser of these commands."""
    parser = argparse.ArgumentParser("robodyn", description="Dynamics of robots from a URDF.")
    parser.add_argument("--version", action="version", version=f"robodyn {rd.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name in names:
        folder = ".command" if name in FOLDERS else ""
        module = importlib.import_module(f"robodyn.cli.{name}{folder}")
        about = DESCRIPTIONS.get(name)
        command = commands.add_parser(name, help=COMMANDS[name], description=about)
        module.add_options(command)
        if name not in WITHOUT_REPORT:
            text = "print one JSON object instead of text"
            command.add_argument("--json", action="store_true", help=text)
        command.set_defaults(run=module.run)
    return parser


def _split_xacro_args(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split off ``NAME:=VALUE`` arguments of xacro; those after ``--ros-args`` are left to ROS."""
    end = argv.index(ROS) if ROS in argv else len(argv)
    found: dict[str, str] = {}
    others = []
    for text in argv[:end]:
        match = _XACRO_ARGUMENT.fullmatch(text)
        if match is None:
            others.append(text)
        elif match[1] in found:
            raise RobodynError(f"{match[1]}:= is given twice; keep one")
        else:
            found[match[1]] = match[2]
    return [*others, *argv[end:]], found
