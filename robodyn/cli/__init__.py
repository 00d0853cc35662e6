"""The command line: ``robodyn sim | check | info | export | publish | view``."""

from robodyn.cli.command_line import main

__all__ = ["main"]
