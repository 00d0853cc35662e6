"""Entry point of the command line: parses arguments, runs a command, reports errors."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

import robodyn as rd
from robodyn.cli import (
    bench,
    check,
    compile,
    completion,
    convert,
    doctor,
    export,
    info,
    publish,
    view,
)
from robodyn.cli.new import command as new
from robodyn.cli.options.robot import split_xacro_args
from robodyn.cli.options.wording import with_options
from robodyn.cli.sim import command as sim
from robodyn.errors import RobodynError

__all__ = ["main"]

#: In the order of ``robodyn --help``.
COMMANDS = (
    new, check, info, sim, view, export, compile, convert, publish, bench, doctor, completion,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status.

    0, or 2 for a mistake in the input and for what broke down, or 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of a robot may not be in its encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        typed, xacro_args = split_xacro_args(sys.argv[1:] if argv is None else argv)
        arguments = _parser().parse_args(typed, argparse.Namespace(xacro_args=xacro_args))
        status = int(arguments.run(arguments))
        print(end="", flush=True)  # sys.stdout may be None
        return status
    except BrokenPipeError:  # the reader has read enough: robodyn info robot.urdf | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RobodynError, OSError) as error:
        print(f"robodyn: {with_options(str(error))}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(with_options(note), file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Exception) as error:
        if not _interrupted(error):
            raise
        print("\nrobodyn: interrupted", file=sys.stderr)
        return 130


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error; the code that it interrupts may raise another type."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("robodyn", description="Dynamics of robots from a URDF.")
    parser.add_argument("--version", action="version", version=f"robodyn {rd.__version__}")
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add_to(commands)
    return parser
