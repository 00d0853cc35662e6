"""Completion of arguments by the shell, by shtab."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn.urdf import bundled_robots

__all__ = ["FILE", "FOLDER", "completed", "robots_and_files"]

FILE, FOLDER = "file", "directory"


def completed(action: argparse.Action, way: str | dict[str, Any]) -> None:
    """Set how an argument is completed.

    Parameters
    ----------
    action : argparse.Action
        What ``add_argument`` returns.
    way : str or dict
        `FILE`, `FOLDER`, or `robots_and_files`.
    """
    action.complete = way  # type: ignore[attr-defined]


def robots_and_files() -> dict[str, Any]:
    """Names of bundled robots, and files."""
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
