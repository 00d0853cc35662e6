"""``robodyn completion``: completion of commands, options and robots by the shell."""

from __future__ import annotations

import argparse

from robodyn.errors import MissingExtraError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    try:
        import shtab
    except ImportError:
        raise MissingExtraError("shtab", "completion", "completion by the shell") from None
    print(shtab.complete(arguments.all_commands(), arguments.shell))
    return 0
