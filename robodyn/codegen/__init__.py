"""From an expression graph to code: machine code, C, CUDA, LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robodyn.codegen.function import Function as Function
    from robodyn.codegen.llvm.batches.threads import (
        get_num_threads as get_num_threads,
        set_num_threads as set_num_threads,
    )
    from robodyn.codegen.llvm.compilation.machine_code import compiled as compiled
    from robodyn.codegen.llvm.compilation.mode import (
        get_compilation as get_compilation,
        set_compilation as set_compilation,
    )
    from robodyn.codegen.llvm.target.once import Memo as Memo, making as making
    from robodyn.codegen.method_table import MethodTable as MethodTable

#: Where public names are defined. They are imported when they are first used: the process that
#: compiles in the background needs little of this package.
_HOME = {
    "Function": "function",
    "Memo": "llvm.target.once",
    "MethodTable": "method_table",
    "compiled": "llvm.compilation.machine_code",
    "get_compilation": "llvm.compilation.mode",
    "get_num_threads": "llvm.batches.threads",
    "making": "llvm.target.once",
    "set_compilation": "llvm.compilation.mode",
    "set_num_threads": "llvm.batches.threads",
}


def __getattr__(name: str) -> Any:
    """Public names, imported when they are first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"robodyn.codegen.{_HOME[name]}")
    found = globals()[name] = getattr(module, name)
    return found
