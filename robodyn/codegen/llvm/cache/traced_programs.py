"""Traced programs on disk, so that the equations of a robot are worked out once.

The key of a program is a hash of all that it is traced from: the pickled arguments, the source of
the modules that describe and trace, and versions. Arguments that contain functions or classes of
other packages, such as a joint map of the user, have no key: their programs are traced each time.
Files are trusted, checked and written as those of object code.
"""

from __future__ import annotations

import contextlib
import copyreg
import hashlib
import io
import os
import pickle
import platform
import sys
import weakref
from collections.abc import Callable
from dataclasses import astuple
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from robodyn.codegen.llvm.cache.object_code import cached, folder, store
from robodyn.codegen.llvm.target.once import once
from robodyn.codegen.llvm.target.target import chosen_target
from robodyn.symbolic.graph import ByPrecision, Graph, Port, Program
from robodyn.version import __version__

#: Folders of this package whose source is part of the key: the classes and functions that programs
#: are traced from are defined there.
FOLDERS = (
    "description", "equations", "force_elements", "joints", "minimal", "model", "motion",
    "symbolic", "topology",
)  # fmt: skip

#: Nodes of the largest program that is stored: some megabytes.
MOST = 200_000

_ROBODYN = Path(__file__).parents[3]


def cached_program(origin: tuple[object, ...], trace: Callable[[], Program]) -> Program:
    """A program from disk, or traced and stored there.

    origin: All that the program is traced from; none of it is ever changed.
    trace: Returns the program.
    """
    key = None if folder() is None else _key(origin)
    if key is None:
        return trace()
    found = _read(cached(key))
    if found is not None:
        return found
    program = trace()
    graph = program.graph
    if type(graph) is Graph and len(graph.op) <= MOST:
        store(key, pickle.dumps(_plain(program), protocol=pickle.HIGHEST_PROTOCOL))
    return program


class _Unknown(Exception):
    """The object cannot be part of a key, as it is not known what it depends on."""


class _Writer(pickle.Pickler):
    """Refuses objects of other classes than those of `FOLDERS`, numpy and Python."""

    def reducer_override(self, x: Any) -> Any:
        named = isinstance(x, type | FunctionType | BuiltinFunctionType)
        for known in (type(x), x) if named else (type(x),):
            package, _, rest = (known.__module__ or "").partition(".")
            own = package == "robodyn" and rest.partition(".")[0] in FOLDERS
            if not own and package not in ("builtins", "numpy", "collections", "types", "copyreg"):
                raise _Unknown(known)
        return NotImplemented if isinstance(x, type) else _without_cached(x)


def _without_cached(x: Any) -> Any:
    """How to pickle an object without the values of its cached properties."""
    kind: Any = type(x)
    state = getattr(x, "__dict__", None)
    plain = all(
        getattr(kind, name) is getattr(object, name)
        for name in ("__reduce_ex__", "__reduce__", "__getstate__")
    )
    if not state or not plain or any(vars(base).get("__slots__") for base in kind.__mro__):
        return NotImplemented
    own = {
        name: value
        for name, value in state.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }
    made: Any = copyreg.__newobj__  # type: ignore[attr-defined]  # as pickle makes objects
    return NotImplemented if len(own) == len(state) else (made, (kind,), own or None)


class _Reader(pickle.Unpickler):
    """Reads what `_plain` returns: numbers, texts and constants that depend on the precision."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (ByPrecision.__module__, ByPrecision.__name__):
            return ByPrecision
        raise _Unknown(module)


def _plain(program: Program) -> tuple[Any, ...]:
    """A program as numbers and texts, without its derivatives."""
    ports = [[astuple(port) for port in group] for group in (program.inputs, program.outputs)]
    rates = {name: _plain(rate) for name, rate in program.rates.items()}
    return program.name, ports, program.results, program.graph.__getstate__(), rates


def _program(plain: tuple[Any, ...]) -> Program:
    """The program that `_plain` has written."""
    name, ports, results, state, rates = plain
    inputs, outputs = (tuple(Port(*x) for x in group) for group in ports)
    graph = Graph()
    graph.__setstate__(state)
    known = {x: _program(rate) for x, rate in rates.items()}
    return Program(name, inputs, outputs, graph, results, known)


#: Hashes of parts of origins, of which many programs are traced.
_digests: weakref.WeakKeyDictionary[Any, bytes] = weakref.WeakKeyDictionary()


def _key(origin: tuple[object, ...]) -> str | None:
    """Hash of what a program is traced from; ``None`` if it may differ in another process."""
    try:
        parts = [_digest(part) for part in origin]
        # sines of constants may have other last digits on other CPUs
        parts.append(hashlib.sha256(repr(chosen_target()).encode()).digest())
    except Exception:  # objects that cannot be pickled may raise anything
        return None
    return hashlib.sha256(_sources() + b"".join(parts)).hexdigest()


def _digest(part: object) -> bytes:
    with contextlib.suppress(KeyError, TypeError):  # of texts and lists there are no references
        return _digests[part]
    written = io.BytesIO()
    _Writer(written, protocol=pickle.HIGHEST_PROTOCOL).dump(part)
    found = hashlib.sha256(written.getvalue()).digest()
    with contextlib.suppress(TypeError):
        _digests[part] = found
    return found


def _read(data: bytes | None) -> Program | None:
    if data is None:
        return None
    try:
        return _program(_Reader(io.BytesIO(data)).load())
    except Exception:  # a file with other contents may raise anything
        return None


@once
def _sources() -> bytes:
    """Hash of the source that traces programs, and of versions that numbers may depend on."""
    digest = hashlib.sha256()
    beside = __version__, sys.version, np.__version__, platform.machine(), platform.libc_ver()
    digest.update(repr(beside).encode())
    files = [*_ROBODYN.glob("*.py")]
    for folder_ in FOLDERS:
        for base, _, names in os.walk(_ROBODYN / folder_):
            files += [Path(base, name) for name in names if name.endswith(".py")]
    for file in sorted(files):
        source = file.read_bytes()
        digest.update(f"{file.relative_to(_ROBODYN).as_posix()} {len(source)}\n".encode() + source)
    return digest.digest()
