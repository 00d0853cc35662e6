"""Object code on disk, so that a function is compiled once for a robot and a CPU.

A file is a digest and the code it belongs to; a file that does not match its digest is compiled
anew. Files are written under another name and renamed, so that concurrent writers cannot harm each
other. Without a writable folder everything works, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path

import llvmlite

from robodyn.codegen.target import Target
from robodyn.symbolic.graph import Program

__all__ = ["compiled", "folder", "program_key"]

#: Raised with every change of the generated code.
GENERATOR = 1

_MAGIC = b"robodyn1"


def folder() -> Path | None:
    """Where object code is kept; ``None`` if it is not (``ROBODYN_CACHE=0``)."""
    if os.environ.get("ROBODYN_CACHE") == "0":
        return None
    chosen = os.environ.get("ROBODYN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "robodyn" if base else None


def program_key(program: Program, target: Target, *choices: object) -> str:
    """Hash of all that determines the object code of a program."""
    graph = program.graph
    digest = hashlib.sha256()
    ports = [(port.shape for port in group) for group in (program.inputs, program.outputs)]
    text = (GENERATOR, llvmlite.__version__, target, choices, [list(shapes) for shapes in ports])
    digest.update(repr(text).encode())
    for part in (graph.op, graph.a, graph.b, program.results):
        digest.update(array("q", part).tobytes())
    digest.update(array("q", graph.value.keys()).tobytes())
    digest.update(array("d", graph.value.values()).tobytes())
    return digest.hexdigest()


def compiled(key: str, make: Callable[[], bytes]) -> bytes:
    """Object code of a key: from disk, or made and kept."""
    where = folder()
    if where is None:
        return make()
    path = where / key[:2] / f"{key}.o"
    code = _read(path)
    if code is None:
        code = make()
        _write(path, code)
    return code


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + 32
    if data[: len(_MAGIC)] != _MAGIC or len(data) <= head:
        return None
    code = data[head:]
    return code if hashlib.sha256(code).digest() == data[len(_MAGIC) : head] else None


def _write(path: Path, code: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(code).digest() + code)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
    except OSError:
        return  # a read-only or full disk: nothing is kept
