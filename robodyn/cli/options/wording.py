"""Messages with options of the command line in place of arguments of Python functions."""

from __future__ import annotations

import re

__all__ = ["with_options"]

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
