"""``rd.export``: functions of a robot as a folder of code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from robodyn.arguments import checked_arguments
from robodyn.codegen.text.assignments import check_type
from robodyn.errors import UnknownNameError
from robodyn.exporting.folder import new_folder, write_folder
from robodyn.exporting.targets import TARGETS
from robodyn.exporting.unit.routines import routines_of
from robodyn.exporting.unit.unit import Unit
from robodyn.robot import Robot

__all__ = ["export"]


@checked_arguments
def export(
    robot: Robot,
    functions: Any,
    target: str,
    folder: str | os.PathLike[str],
    *,
    dtype: str = "double",
) -> Path:
    """Write functions of a robot as code of another language: a folder that stands alone.

    Parameters
    ----------
    robot : Robot
    functions : names, Functions, or a mapping from names in the code to these
        Names are those of `Robot.function`. Functions are any of this robot: with options, with
        controllers, derivatives of others.
    target : str
        A language or format: a key of `robodyn.exporting.targets.TARGETS`.
    folder : path
        Of a folder that is not there yet, or is empty. It is there as a whole in the end, or not at
        all.
    dtype : {"double", "float"}
        Of the arithmetic.

    Returns
    -------
    folder : Path

    Raises
    ------
    SettingsError
        If the folder holds other files, no functions are given, or names are the same.
    UnknownNameError
        For an unknown function, target or dtype.
    MissingFileError, FileError
        If the folder cannot be made.
    """
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    check_type(dtype)
    unit = Unit(robot, routines_of(robot, functions), dtype)
    path = new_folder(folder)
    write_folder(path, TARGETS[target](unit))
    return path
