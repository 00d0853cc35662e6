"""A folder of files that is there as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from robodyn.errors import SettingsError
from robodyn.files import as_path, writing


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
