"""Files that users name: paths, image files, and errors of the system when writing fails."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robodyn.errors import FileError, MissingFileError, ShapeError


def as_path(what: str, value: Any) -> Path:
    """A path given to an argument.

    Raises ShapeError: If it is not a path.
    """
    if not isinstance(value, str | os.PathLike):
        raise ShapeError(
            f"{what} is {type(value).__name__}, expected the path of a file", name=what, given=value
        )
    return Path(value)


def refuse_missing_folder(path: Path) -> None:
    """Refuse to write into a folder that does not exist."""
    if not path.parent.is_dir():
        raise MissingFileError(
            f"cannot write {str(path)!r}: no such folder: {str(path.parent)!r}; make it first"
        )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn errors of the system into `FileError` while a file is written.

    Raises MissingFileError: If there is no such folder.
    Raises FileError: For whatever else the system refuses: no permission, no space.
    """
    refuse_missing_folder(path)
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot write {str(path)!r}: {reason}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside one, which takes its place when it is complete, and goes where it is not.

    It may be read by whoever may read the file that was there, or as the umask says. A link stays:
    the file that it leads to is replaced. What is no file, as a pipe or ``/dev/stdout``, is written
    to as it is.
    """
    with writing(path):
        place = Path(os.path.realpath(path))
        if path.exists() and not (path.is_file() or path.is_dir()):
            yield path
            return
        unfinished = place.with_name(f".{place.stem}-{os.urandom(8).hex()}{path.suffix}")
        unfinished.touch(exist_ok=False)
        try:
            if place.exists():
                os.chmod(unfinished, stat.S_IMODE(place.stat().st_mode))
            yield unfinished
            os.replace(unfinished, place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def check_image(path: str | os.PathLike[str]) -> None:
    """Refuse what is no name of an image file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    target, known = as_path("path", path), FigureCanvasAgg.get_supported_filetypes()
    ending = target.suffix.removeprefix(".").lower()
    if target.name in ("", "..") or (ending and ending not in known):
        raise ShapeError(
            f"cannot draw {str(target)!r}: expected a name ending in one of {', '.join(known)}",
            name="path",
            given=target.suffix,
        )


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure of matplotlib to an image file, completely or not at all."""
    check_image(path)
    target = as_path("path", path)
    if not target.suffix:  # as matplotlib does
        target = target.with_name(f"{target.name}.{figure.canvas.get_default_filetype()}")
    with replacing(target) as unfinished:
        figure.savefig(unfinished, dpi=120)
