"""The option ``--json``: the report of a command as one JSON object for other programs."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd

__all__ = ["add_json", "print_json"]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def print_json(command: str, **fields: Any) -> None:
    """Print a report of a command.

    Keys of numbers end with their unit (``mass_kg``), or there is another key ``"unit"``. Numbers
    that are not finite, which JSON does not have, are null.

    Parameters
    ----------
    command : str
    **fields
        Numbers, text, paths, arrays, and mappings and sequences of them.
    """
    report = {"command": command, "version": rd.__version__, **fields}
    print(json.dumps(_plain(report), indent=2, allow_nan=False))


def _plain(x: Any) -> Any:
    """A value converted to types of JSON."""
    if isinstance(x, Mapping):
        return {str(key): _plain(value) for key, value in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        return _plain(x.tolist())
    if isinstance(x, list | tuple):
        return [_plain(value) for value in x]
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return str(x) if isinstance(x, Path) else x
