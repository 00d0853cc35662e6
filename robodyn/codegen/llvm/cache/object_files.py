"""Files of object code in a folder: which are trusted, how they are written and removed.

A file of object code is run as it is, so whoever can write it can run what he likes. Only regular
files are read that belong to the user who runs this process, or to root, and that nobody else may
write, in a folder of which the same holds. Reading never waits: what is not a regular file, such as
a named pipe, is not read. A file is a digest, and the code to which it belongs; a file that does
not match its digest is as good as none. Files are written under another name and renamed, so that
processes which write at the same time cannot harm each other. Whatever else is in the folder
belongs to somebody else: it is neither counted nor changed nor removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"robodyn2"
_HEAD = len(_MAGIC) + 32

#: Bytes of the largest file that is read or written.
LARGEST = 64 << 20

#: Names of finished files (a key, which is a hash), and of those that are being written.
_OURS = re.compile(r"[0-9a-f]{64}\.o|robodyn-[0-9a-f]{16}\.unfinished")

#: Age [s] at which a file that is still unfinished has been left behind by a process that died.
_ABANDONED = 3600.0

#: Name of an empty file that is touched by every `sweep`.
_SWEPT = "robodyn.swept"

#: Time [s] after a `sweep` in which processes that begin need not make another.
_LATELY = 3600.0

#: Folders that were refused, with a warning.
_refused: set[str] = set()


def read(folder: Path, key: str) -> bytes | None:
    """Object code of a key; ``None`` if there is none that can be trusted."""
    if not _trusted_folder(folder):
        return None
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(folder / f"{key}.o", flags)
    except OSError:
        return None
    try:
        return _checked(handle, key)
    except OSError:
        return None
    finally:
        os.close(handle)


def _checked(handle: int, key: str) -> bytes | None:
    """Object code of an open file, if the file can be trusted and is whole."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or not _ours(status):
        return None
    if not _HEAD < status.st_size <= LARGEST:
        return None
    with os.fdopen(os.dup(handle), "rb") as file:
        data = file.read(LARGEST + 1)
    code = data[_HEAD:]
    if len(data) > LARGEST or data[:_HEAD] != _head(key, code):
        return None
    if os.utime in os.supports_fd:  # so that `sweep` knows when it was used last
        with contextlib.suppress(OSError):
            os.utime(handle)
    return code


def write(folder: Path, key: str, code: bytes) -> bool:
    """Keep object code; False where that is not possible, as on a full or read-only disk."""
    if len(code) + _HEAD > LARGEST:
        return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted_folder(folder):
            return False
        name = folder / f"robodyn-{os.urandom(8).hex()}.unfinished"
        exclusive = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(name, exclusive, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(key, code) + code)
            os.replace(name, folder / f"{key}.o")
        except BaseException:  # Ctrl-C, too
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError:
        return False
    return True


def lately_swept(folder: Path) -> bool:
    """Whether some process has called `sweep` within the last hour."""
    try:
        return 0.0 <= time.time() - os.lstat(folder / _SWEPT).st_mtime < _LATELY
    except OSError:
        return False


def sweep(folder: Path, limit: int) -> None:
    """Remove files that were left unfinished, and those used longest ago beyond a size.

    limit: Bytes that finished files may take together.
    """
    finished = []
    for path, status in _files(folder):
        if path.endswith(".o"):
            finished.append((status.st_mtime, status.st_size, path))
        elif time.time() - status.st_mtime > _ABANDONED:
            _remove(path)
    total = sum(size for _, size, _ in finished)
    for _, size, path in sorted(finished):
        if total <= limit:
            break
        total -= size
        if _begins_as_ours(path):
            _remove(path)
    with contextlib.suppress(OSError):
        (folder / _SWEPT).touch(0o600)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files in a folder with names of ours; what cannot be looked at is passed over."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False)


def _begins_as_ours(path: str) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def contents(folder: Path) -> tuple[int, int]:
    """The number of finished files in a folder, and their bytes together."""
    sizes = [status.st_size for path, status in _files(folder) if path.endswith(".o")]
    return len(sizes), sum(sizes)


def _head(key: str, code: bytes) -> bytes:
    """The beginning of a file with this key and code."""
    return _MAGIC + hashlib.sha256(key.encode() + b"\0" + code).digest()


def _ours(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process or to root, and nobody else may write it.

    Root could run anything as this user without it; images of containers bring files of root.
    """
    if not hasattr(os, "geteuid"):  # Windows: the folder is in the user's own profile
        return True
    mine = status.st_uid in (os.geteuid(), 0)
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trusted_folder(folder: Path) -> bool:
    try:
        status = os.stat(folder)
    except OSError:
        return False
    if _ours(status):
        return True
    if str(folder) not in _refused:
        _refused.add(str(folder))
        import logging  # takes a while to import, and is hardly ever needed

        logging.getLogger(__name__).warning(
            "no compiled code is read from %s or kept there, since other users can write to it or "
            "own it; take the right to write from them (chmod go-w), or name a folder of your own "
            "in ROBODYN_CACHE_DIR",
            folder,
        )
    return False
