"""The option ``--near``: where the search for a closed posture starts."""

from __future__ import annotations

import argparse

from robodyn.errors import RobodynError

__all__ = ["add_near", "near"]


def add_near(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--near",
        action="append",
        default=[],
        metavar="JOINT=POSITION",
        help="where to look for a posture with closed loops (rad, m; several numbers: 1,2,3)",
    )


def near(arguments: argparse.Namespace) -> dict[str, list[float]] | None:
    """The positions of ``--near`` by joint name."""
    found = {}
    for text in arguments.near:
        name, _, numbers = text.rpartition("=")
        if name in found:
            raise RobodynError(f"--near gives {name!r} twice; keep one")
        try:
            found[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            name = ""
        if not name:
            raise RobodynError(f"--near is {text!r}, expected JOINT=POSITION")
    return found or None
