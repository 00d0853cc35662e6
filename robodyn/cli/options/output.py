"""What commands print: one JSON object for other programs, and messages that name their options."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd


def print_json(command: str, **fields: Any) -> None:
    """Print a report of a command.

    Keys of numbers end with their unit (``mass_kg``), or there is another key ``"unit"``. Numbers
    that are not finite, which JSON does not have, are null.

    Fields may be numbers, text, paths, arrays, and mappings and sequences of them.
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


#: Options by the arguments of `robodyn.load` and `robodyn.simulate` that messages name.
_OPTIONS = {
    "strict=False": "--lenient",
    "xacro=True": "--xacro",
    "xacro=False": "--no-xacro",
    "allow_unphysical=True": "--allow-unphysical",
    "rigid=True": "--rigid",
    "Viewer(robot, motion)": "--trajectory FILE",
    "near={joint: position}": "--near JOINT=POSITION",
}
#: Arguments whose option has the same name and takes the same value.
_VALUES = re.compile(
    r"\b(closure_tolerance|integrator|base|step|duration)=(?:'(\w+)'|([\w.+-]*\w)|(?=[ ,;)]))"
)


def with_options(message: str) -> str:
    """A message with options of the command line in place of arguments of Python functions."""
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return _VALUES.sub(_option, message)


def _option(match: re.Match[str]) -> str:
    name, word, value = match.groups()
    return " ".join(filter(None, (f"--{name.replace('_', '-')}", word or value)))
