"""``rd.export``: functions of a robot as a folder of code, there as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robodyn.arguments import checked_arguments
from robodyn.errors import SettingsError
from robodyn.exporting.targets import TARGETS
from robodyn.exporting.unit.contents import unit_of
from robodyn.files import as_path, writing
from robodyn.literals import ExportTarget, IntegratorName, Precision
from robodyn.robot import Robot


@checked_arguments
def export(
    robot: Robot,
    functions: Any,
    target: ExportTarget,
    folder: str | os.PathLike[str],
    *,
    controller: Any = None,
    dtype: Precision = "double",
    step: float = 1e-3,
    integrator: IntegratorName = "rk4",
    name: str | None = None,
) -> Path:
    """Write functions of a robot as code of another language: a folder that stands alone.

    Parameters
    ----------
    robot : Robot
    functions : sequence or mapping
        What the folder has: names as `Robot.function` takes them; ``(name, options)``, as
        ``("frame_pose", {"frame": "tool"})``; or Functions of this robot, such as derivatives. A
        mapping from names in the code to these gives names. Besides there are ``"motor_torques"``,
        ``"assemble"`` (option ``hold=``), which closes loops near a guess, and ``"step"``, a step
        in time. With a controller there are ``"control"``, the controller alone, and
        ``"closed_loop"``, accelerations under it.
    target : {"c", "cpp", "fmu", "matlab", "modelica", "python"}
        A language or format.
    folder : path
        Of a folder that is not there yet, or is empty. It is there as a whole in the end, or not at
        all.
    controller : callable, optional
        Of ``"step"``, ``"control"`` and ``"closed_loop"``: one of `robodyn.controllers` or another
        one with ``symbolic = True``. A step without one takes forces.
    dtype : {"double", "float"}
        Of the arithmetic.
    step : float [s]
        From sample to sample of ``"step"`` and ``"control"``.
    integrator : str
        Of ``"step"``, an explicit one: a key of `robodyn.simulation.integrators.EXPLICIT`.
    name : str, optional
        What files, packages and the names in C are called after; two folders of one robot that
        become one program need two. Default: the name of the robot.

    Returns
    -------
    folder : Path

    Raises
    ------
    SettingsError
        If the folder holds other files, no functions are given, or names are the same; if there is
        no straight-line code of a step, of loops or of the controller.
    UnknownNameError
        For an unknown function, target or dtype.
    MissingFileError, FileError
        If the folder cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> import robodyn as rd
    >>> folder = rd.export(rd.load("double_pendulum"), ["mass_matrix"], "c", tempfile.mkdtemp())
    >>> "double_pendulum.h" in [file.name for file in folder.iterdir()]
    True
    """
    unit = unit_of(robot, functions, controller, step, integrator, dtype, name)
    path = new_folder(folder)
    write_folder(path, TARGETS[target](unit))
    return path


def new_folder(folder: object) -> Path:
    """The path of a folder that is not there yet, or is empty.

    Raises `ShapeError` if it is no path, `SettingsError` if there is a file of that name or the
    folder holds files, `MissingFileError` or `FileError` if it cannot be made or read.
    """
    path = Path(os.path.abspath(as_path("folder", folder)))
    with writing(path):
        if path.is_dir():
            others = sorted(x.name for x in path.iterdir())
            if others:
                raise SettingsError(
                    f"the folder {str(path)!r} holds other files ({', '.join(others[:3])}"
                    f"{', ...' if len(others) > 3 else ''}): give the name of a new folder, or "
                    "remove this one first"
                )
        elif os.path.lexists(path):
            raise SettingsError(f"{str(path)!r} is a file, expected the name of a new folder")
    return path


def write_folder(path: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files into a new folder, all of them or none.

    Raises `FileError` if the system refuses; then nothing is left.

    path: From `new_folder`.
    files: Contents by path within the folder, with slashes.
    """
    with writing(path), _unfinished(path) as place:
        for name, content in files.items():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            target.write_bytes(data)
        if path.is_dir():
            path.rmdir()  # empty, or the system refuses
        os.replace(place, path)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A folder beside one, which is gone at the end."""
    place = path.with_name(f".{path.name}-{os.urandom(8).hex()}")
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
