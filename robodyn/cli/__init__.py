"""The command line: ``robodyn sim | check | info | convert | export | publish | view``."""

from robodyn.cli.command_line import main

__all__ = ["main"]
