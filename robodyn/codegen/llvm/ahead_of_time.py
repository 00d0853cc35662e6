"""Machine code of loops written in Python, for what straight-line code cannot do.

Numba translates them to IR, once. Object code is kept as that of all functions is, so a process
that finds it does not import numba, which takes longer than a second.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from robodyn.codegen.llvm.cache import compiled, generator_key, kept
from robodyn.codegen.llvm.once import making
from robodyn.codegen.llvm.target import host, load_object, object_code, optimised
from robodyn.errors import MissingExtraError

__all__ = ["load_loops"]

#: What the code may call: there in every process.
_LIBRARY = {"exp", "log", "sqrt"}

#: Name of the entry in object code.
_ENTRY = "entry"


def load_loops(
    entry: Callable[..., Any],
    signature: str,
    modules: Sequence[ModuleType],
    *,
    only_kept: bool = False,
) -> tuple[int, Any] | None:
    """Address of the machine code of ``entry``, and what owns it.

    Parameters
    ----------
    entry : callable
        Numbers and pointers in, with the conventions of C. It and all that it calls neither
        raises nor makes arrays.
    signature : str
        In numba's words.
    modules : sequence of module
        All their functions can be called.
    only_kept : bool
        Compile nothing: ``None`` if the code has yet to be made.

    Raises
    ------
    MissingExtraError
        Without numba, if the code has yet to be made.
    """

    def make() -> bytes:
        ir = optimised(_translated(entry, signature, modules), loops=False)
        return object_code(_self_contained(ir))

    with making():
        made_from = (entry.__module__, entry.__qualname__, signature, *map(_source, modules))
        key = generator_key(__name__, host(), made_from)
        code = kept(key) if only_kept else compiled(key, make)
        if code is None:
            return None
        engine = load_object(code)
    return int(engine.get_function_address(_ENTRY)), engine


def _source(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except OSError:  # byte code only, which does not change either
        from importlib.metadata import version

        return version("robodyn")


def _translated(entry: Callable[..., Any], signature: str, modules: Sequence[ModuleType]) -> str:
    """IR of which only the entry is seen from outside, so that all else can be inlined."""
    try:
        import numba
        from numba.core.cpu import CPUTargetOptions
        from numba.extending import register_jitable
    except ImportError as error:
        raise MissingExtraError("numba", "", "solving loops of unknown rank") from error
    import llvmlite.binding as llvm

    options: dict[str, Any] = {"error_model": "numpy"}
    if hasattr(CPUTargetOptions, "_dbg_optnone"):
        # numba would optimise each function again with each that calls it; we do it once, later
        options["_dbg_optnone"] = True
    for module in modules:
        for _, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__:
                register_jitable(**options)(function)
    made = numba.cfunc(signature, **options)(entry)
    text = made.inspect_llvm().replace("noinline", "nounwind").replace("optnone", "nounwind")
    code = llvm.parse_assembly(text)
    for function in code.functions:
        if function.name == made.native_name:
            function.name = _ENTRY
        elif not function.is_declaration:
            function.linkage = "internal"
    return str(code)


def _self_contained(ir: str) -> str:
    """The same IR, if it can do without numba: nothing in it raises or makes arrays."""
    called = set(re.findall(r"^declare [^@]*@([^(]+)", ir, re.MULTILINE))
    foreign = {name for name in called if not name.startswith("llvm.")} - _LIBRARY
    if foreign:
        raise RuntimeError(f"compiled loops call {sorted(foreign)}, which numba alone has")
    return ir
