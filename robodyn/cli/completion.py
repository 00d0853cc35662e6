"""``robodyn completion``: completion of commands, options and robots by the shell."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn.errors import MissingExtraError

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    completion = commands.add_parser(
        "completion",
        help="print a script by which a shell completes commands (extra completion)",
        description="Print a script by which a shell completes commands, options and robots. "
        'bash, in ~/.bashrc: eval "$(robodyn completion bash)". zsh, in ~/.zshrc after compinit: '
        'eval "$(robodyn completion zsh)". fish: robodyn completion fish > '
        "~/.config/fish/completions/robodyn.fish",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=_completion)


def _completion(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise MissingExtraError("shtab", "completion", "completion by the shell") from None
    print(shtab.complete(arguments.all_commands(), arguments.shell))
    return 0
