"""Object code on disk, so that a function is compiled once for a robot and a CPU.

Code is kept under a hash of all that determines it: the program, the CPU, the versions of llvmlite
and of robodyn, and the source of what generates it. Without a folder that can be trusted and
written (see `robodyn.codegen.llvm.cache.object_files`) everything works, and nothing is kept.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from array import array
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.codegen.llvm.cache import object_files
from robodyn.codegen.llvm.target.once import Memo, once
from robodyn.codegen.llvm.target.target import Target
from robodyn.version import __version__

if TYPE_CHECKING:
    from robodyn.symbolic.graph import Program


#: Imports of this package, at the top of a module or within a function.
_IMPORT = re.compile(r"^\s*from (robodyn[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)

_digests: Memo[bytes] = Memo()


def generator_digest(module: str) -> bytes:
    """Hash of the sources of a module and of all modules of robodyn that it imports, in turn.

    module: Full name, ``"robodyn.codegen.llvm.kernels.kernel_ir"``.
    """

    def digest() -> bytes:
        parts = [f"{name}\n{source}" for name, source in sorted(_sources(module).items())]
        return hashlib.sha256("\0".join(parts).encode()).digest()

    return _digests.get(module, digest)


def generator_modules(module: str) -> tuple[str, ...]:
    """Full names of the modules that `generator_digest` reads, in order."""
    return tuple(sorted(_sources(module)))


def _sources(module: str) -> dict[str, str]:
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        spec = find_spec(name)
        if spec is None:
            continue
        found[name] = source = _source(spec)
        waiting += _imported(source)
    return found


def _source(spec: ModuleSpec) -> str:
    """Text of a module; empty where only byte code is installed, which the version stands for."""
    get_source = getattr(spec.loader, "get_source", None)
    return (get_source(spec.name) if get_source else None) or ""


def _imported(source: str) -> Iterator[str]:
    """Modules of robodyn that a source text imports."""
    for match in _IMPORT.finditer(source):
        module, names = match.group(1), match.group(2)
        if module == "robodyn":  # public names, whose source is not part of a generator
            continue
        yield module
        spec = find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            for name in re.findall(r"\w+", names):
                if find_spec(f"{module}.{name}") is not None:
                    yield f"{module}.{name}"


#: Bytes that files of object code may take together unless ``ROBODYN_CACHE_MB`` says otherwise.
LIMIT = 512 << 20

#: Files that this process writes from one look at all files to the next; the first look is at the
#: first file, if no other process has looked lately.
_SWEEP_EVERY = 64

_written, _not_stored = 0, 0


def folder() -> Path | None:
    """The folder of object code; ``None`` if none is stored (``ROBODYN_CACHE=0``).

    It is always one called robodyn, below the folder that ``ROBODYN_CACHE_DIR`` names or the one
    where programs of this system keep such things: the folder above may hold anything.
    """
    if os.environ.get("ROBODYN_CACHE") == "0":
        return None
    chosen = os.environ.get("ROBODYN_CACHE_DIR")
    if chosen:
        return _named(chosen) / "robodyn"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "robodyn" if base else None


@functools.cache
def _named(chosen: str) -> Path:
    """The folder of this name in the working directory of the first call, also after others.

    What starts programs without a shell does not expand a tilde.
    """
    return Path(os.path.expanduser(chosen)).absolute()


def program_key(generator: str, program: Program, target: Target, *choices: object) -> str:
    """Hash of all that determines the object code of a program.

    generator: Full name of the module that makes the code.
    *choices: Whatever else shapes the code; they are compared by their ``repr``.
    """
    from robodyn.symbolic.graph import ByPrecision  # which the process that compiles has no use for

    graph = program.graph
    digest = hashlib.sha256()
    ports = [[list(port.shape) for port in group] for group in (program.inputs, program.outputs)]
    common = [port.common for port in program.inputs]
    digest.update(generator_key(generator, target, choices, ports, common).encode())
    for part in (graph.op, graph.a, graph.b, program.results):
        digest.update(array("q", part).tobytes())
    digest.update(array("q", graph.value.keys()).tobytes())
    digest.update(array("d", graph.value.values()).tobytes())
    singles = [x.single for x in graph.value.values() if isinstance(x, ByPrecision)]
    digest.update(array("d", singles).tobytes())
    return digest.hexdigest()


def generator_key(generator: str, *choices: object) -> str:
    """Hash of the source of a generator and of the choices it is given.

    generator: Full name of the module that makes the code. Its source, and that of all modules of
        robodyn that it imports, are part of the key.
    *choices: They are compared by their ``repr``.
    """
    text = repr((_versions(), choices)).encode()
    return hashlib.sha256(text + generator_digest(generator)).hexdigest()


@once
def _versions() -> tuple[str, str]:
    import llvmlite

    return llvmlite.__version__, __version__


def cached(key: str) -> bytes | None:
    """Object code of a key from disk; ``None`` if there is none."""
    where = folder()
    return None if where is None else object_files.read(where, key)


def store(key: str, code: bytes) -> None:
    """Write object code to disk, if that is possible."""
    global _written, _not_stored
    where = folder()
    if where is None or not object_files.write(where, key, code):
        _not_stored += 1
        return
    if _written % _SWEEP_EVERY == 0 and (_written or not object_files.lately_swept(where)):
        object_files.sweep(where, _limit())
    _written += 1


def not_stored() -> int:
    """Number of files of object code that this process could not write to disk."""
    return _not_stored


def _limit() -> int:
    """Bytes that files may take together."""
    try:
        return int(float(os.environ["ROBODYN_CACHE_MB"]) * 2**20)
    except (KeyError, ValueError, OverflowError):
        return LIMIT
