"""Arguments of xacro files, ``NAME:=VALUE`` anywhere on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robodyn.errors import RobodynError

__all__ = ["split_xacro_args"]

_XACRO_ARGUMENT = re.compile(r"([A-Za-z_]\w*):=(.*)", re.DOTALL)

#: Arguments after this one are those of ROS, which have the same form.
ROS = "--ros-args"


def split_xacro_args(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split off ``NAME:=VALUE`` arguments of xacro; those after ``--ros-args`` are left to ROS."""
    end = argv.index(ROS) if ROS in argv else len(argv)
    found: dict[str, str] = {}
    others = []
    for text in argv[:end]:
        match = _XACRO_ARGUMENT.fullmatch(text)
        if match is None:
            others.append(text)
        elif match[1] in found:
            raise RobodynError(f"{match[1]}:= is given twice; keep one")
        else:
            found[match[1]] = match[2]
    return [*others, *argv[end:]], found
