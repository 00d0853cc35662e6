"""Files of bags, read and written with rosbags (extra ``bag``)."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from robodyn.bags.messages import Messages
from robodyn.errors import BagError, FileError, MissingExtraError, MissingFileError
from robodyn.files import writing
from robodyn.literals import BagStorage

#: Storage by the ending of a single file; other names are folders, as ROS 2 writes them.
STORAGE: dict[str, BagStorage] = {".mcap": "mcap", ".db3": "sqlite3"}


def rosbags(purpose: str) -> SimpleNamespace:
    """Of rosbags: ``bag``, ``qos``, ``types``, ``messages``, and ``serialized``, their bytes."""
    try:
        from rosbags import interfaces, rosbag2, typesys
    except ImportError:
        raise MissingExtraError("rosbags", "bag", purpose) from None
    types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    return SimpleNamespace(
        bag=rosbag2,
        qos=interfaces,
        types=types,
        messages=Messages(types.types.__getitem__, np.ascontiguousarray),
        serialized=lambda message: types.serialize_cdr(message, message.__msgtype__),
    )


@contextmanager
def new_bag(path: Path, storage: BagStorage) -> Iterator[tuple[Any, SimpleNamespace]]:
    """A bag to write to; it appears under its name when all is written.

    ``.mcap`` and ``.db3`` are single files, replaced if they are there. Any other name is a folder
    with ``metadata.yaml`` and files of that ``storage``, which must not be there.
    """
    tools = rosbags("writing a bag")
    single = path.suffix in STORAGE
    storage = STORAGE.get(path.suffix, storage)
    plugins = {"mcap": tools.bag.StoragePlugin.MCAP, "sqlite3": tools.bag.StoragePlugin.SQLITE3}
    if path.exists() and (path.is_dir() or not single):
        raise BagError(f"{str(path)!r} is there already: a bag of this name would replace it")
    if not path.parent.is_dir():
        raise MissingFileError(f"no such folder: {str(path.parent)!r}; make it first")
    with (
        _storing(path),
        writing(path),
        tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder,
    ):
        made = Path(folder) / (path.stem if single else path.name)
        with tools.bag.Writer(made, version=9, storage_plugin=plugins[storage]) as writer:
            yield writer, tools
        os.replace(next(made.glob(f"*{path.suffix}")) if single else made, path)


@contextmanager
def _storing(path: Path) -> Iterator[None]:
    """Raise errors of a database as `FileError`, as `writing` does for files."""
    try:
        yield
    except sqlite3.Error as error:
        raise FileError(f"cannot write {str(path)!r}: {error}") from error


@contextmanager
def open_bag(path: Path) -> Iterator[tuple[Any, SimpleNamespace]]:
    """Open a bag for reading. Any fault of the file raises `BagError`."""
    tools = rosbags("reading a bag")
    if not path.exists():
        raise MissingFileError(f"no such bag: {str(path)!r}")
    if not (path.is_dir() or path.is_file()):
        raise BagError(f"{str(path)!r} is a pipe or a device, not a bag")
    if path.is_dir() and not (path / "metadata.yaml").is_file():
        raise BagError(f"the folder {str(path)!r} is no bag: it has no metadata.yaml")
    try:
        with tools.bag.Reader(path) as reader:
            yield reader, tools
    except (BagError, OSError):
        raise
    except Exception as error:  # of sqlite, yaml, zstd and the parsers of rosbags
        if isinstance(error, tools.bag.ReaderError) or _from_reader(error):
            raise BagError(f"cannot read the bag {str(path)!r}: {error}") from error
        raise


def _from_reader(error: BaseException) -> bool:
    """Whether an exception was raised in rosbags or below it, not in robodyn."""
    trace = error.__traceback__
    while trace is not None:
        if "rosbags" in Path(trace.tb_frame.f_code.co_filename).parts:
            return True
        trace = trace.tb_next
    return False
