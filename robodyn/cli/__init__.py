"""The command line: ``robodyn``, each command in a module of its own."""

from robodyn.cli.command_line import main

__all__ = ["main"]
