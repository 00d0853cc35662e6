"""Files of motions: folders that are written during the motion, and read as memory maps.

A folder holds one ``.npy`` file for each array and ``trajectory.json``. During the motion its name
ends in ``.partial``; it gets its own name when the motion is complete. The folder of a motion that
ended early can be read, too: it has as many samples as are in all files.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch
from robodyn.errors import FileError
from robodyn.files import writing
from robodyn.simulation.trajectory.files import archive
from robodyn.simulation.trajectory.files.validity import reporting_damage

#: Ending of the name of a folder while a motion is written to it.
PARTIAL = ".partial"
CONTENTS = "trajectory.json"
#: Endings of the files that `Trajectory.save` writes.
FILES = (".npz", ".csv", ".mcap")


class _Column:
    """A ``.npy`` file that grows.

    The padding that numpy leaves in the header is enough for any number of rows.

    like (n, ...): Some rows. They are written as float32 if they are, else as float64.
    """

    def __init__(self, path: Path, like: FloatArray) -> None:
        self.row, self._file = like.shape[1:], FileIO(path, "w")
        self._dtype = np.dtype("<f4" if like.dtype == np.float32 else "<f8")
        self._write_header(0)
        self._start = self._file.tell()

    def _write_header(self, rows: int) -> None:
        self._file.seek(0)
        shape = (rows, *self.row)
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, x: FloatArray) -> None:
        """Write rows."""
        left = memoryview(np.ascontiguousarray(x, self._dtype).tobytes())
        while left:  # the system may write a part, if the disk is almost full
            left = left[self._file.write(left) or 0 :]

    def close(self, rows: int) -> None:
        """Close the file, after it is cut to a number of rows."""
        if not self._file.closed:
            self._write_header(rows)
            self._file.truncate(self._start + self._dtype.itemsize * rows * math.prod(self.row))
            self._file.close()


class Folder:
    """A folder that a motion is written to.

    target: Path of the folder once it is complete.
    rows: Number of complete samples in it.
    Raises FileError: If it exists already, or cannot be created.
    """

    def __init__(self, target: Path) -> None:
        if target.name in ("", ".."):
            raise FileError(f"{str(target)!r} is there already; give the name of a new folder")
        self.target, self.path = target, target.with_name(target.name + PARTIAL)
        self.rows = 0
        self._columns: dict[str, _Column] = {}
        if target.suffix in FILES:
            raise mismatch(
                "to",
                target.name,
                f"the name of a folder: Trajectory.save writes {target.suffix} files",
            )
        for path in (target, self.path):
            if path.exists():
                left = ": a motion that broke off, which Trajectory.load reads" * (path != target)
                raise FileError(f"{str(path)!r} is there already{left}; remove it first")
        with writing(target):
            self.path.mkdir()

    def append(self, arrays: Mapping[str, FloatArray], about: Mapping[str, Any]) -> None:
        """Write samples, one row of each array; an array that is missing has rows of zeros.

        Raises FileError: If they cannot be written; earlier samples stay.
        """
        with writing(self.path):
            for name, x in arrays.items():
                if name not in self._columns:
                    self._columns[name] = column = _Column(self.path / _file(name), x)
                    column.append(np.zeros((self.rows, *column.row)))
                    self._say(about)
            for name, column in self._columns.items():
                nothing = np.zeros((len(arrays["t"]), *column.row))
                column.append(arrays.get(name, nothing))
        self.rows += len(arrays["t"])

    def _say(self, about: Mapping[str, Any]) -> None:
        contents = {**about, "arrays": list(self._columns)}
        (self.path / f"{CONTENTS}{PARTIAL}").write_text(json.dumps(contents), encoding="utf-8")
        os.replace(self.path / f"{CONTENTS}{PARTIAL}", self.path / CONTENTS)

    def close(self, about: Mapping[str, Any], *, complete: bool) -> Path:
        """Close the folder, rename it if the motion is complete, and return its path.

        Raises FileError: If it cannot be completed; then it can be closed as not complete.
        """
        with writing(self.path):
            for column in self._columns.values():
                column.close(self.rows)
            if complete:
                self._say(about)
                os.rename(self.path, self.target)
                return self.target
            with suppress(OSError):  # the disk is full: the earlier contents will do
                self._say(about)
        return self.path


def is_recording(path: Path) -> bool:
    """Whether a path is a folder that a motion was written to."""
    return (path / CONTENTS).is_file()


@reporting_damage
def read(source: Path) -> dict[str, Any]:
    """The fields of a trajectory from a folder, and the name of its robot; arrays stay in files.

    Raises ShapeError: If it is damaged or holds something else.
    """
    about = json.loads((source / CONTENTS).read_text(encoding="utf-8"))
    arrays = {name: _mapped(source / _file(name)) for name in about["arrays"]}
    rows = {name: len(x) for name, x in arrays.items()}
    if source.suffix != PARTIAL and len({*rows.values()}) > 1:
        raise ValueError(f"its arrays have different lengths: {rows}")
    said = {"joint_names": about["joints"], "driven": about["driven"], "events": about["events"]}
    said |= {"friction": about.get("friction", ""), "robot_name": about["robot"]}
    said |= {"robot_facts": json.dumps(about.get("facts", {}))}
    return archive.fields_of({k: x[: min(rows.values())] for k, x in arrays.items()} | said)


def _file(name: str) -> str:
    """Name of the file of an array; special characters of link names are quoted."""
    return f"{quote(name, safe='')}.npy"


def _mapped(path: Path) -> FloatArray:
    """Memory map of an array, with the rows that the file has, as its header may not be updated."""
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{path.name} is of another version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        start = file.tell()
    row = math.prod(shape[1:]) * dtype.itemsize
    rows = (path.stat().st_size - start) // row if row else shape[0]
    if not rows:
        return np.empty((0, *shape[1:]))
    held = np.memmap(path, dtype, "r", start, (rows, *shape[1:]))
    return np.asarray(held)
