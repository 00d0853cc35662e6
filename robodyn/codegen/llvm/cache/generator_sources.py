"""Source of a generator of machine code and of all modules that it imports.

Object code is kept under a key that includes this, so that a change of the generator, wherever it
is made, never runs code that an earlier one left on disk.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

from robodyn.codegen.llvm.target.once import Memo

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
