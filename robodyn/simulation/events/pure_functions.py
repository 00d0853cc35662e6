"""Whether a function of a user is pure: it computes with its arguments and has no side effects.

A pure function may be called with many samples at once. A function that stores its arguments,
counts its calls or prints is called for each sample.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Instructions with side effects.
STORING = frozenset(
    {"STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_NAME",
     "DELETE_GLOBAL", "DELETE_DEREF", "DELETE_ATTR", "DELETE_SUBSCR", "IMPORT_NAME",
     "YIELD_VALUE"}
)  # fmt: skip
#: Instructions that handle exceptions: many samples may raise where a single one does not.
CATCHING = frozenset({"SETUP_FINALLY", "PUSH_EXC_INFO"})
#: Types of objects that cannot change, and arrays, which only instructions that store can change.
VALUES = (int, float, complex, str, bytes, types.NoneType, np.ndarray, np.generic, np.ufunc)
#: Built-in functions without side effects.
COMPUTING = tuple(
    getattr(builtins, name)
    for name in ("abs", "divmod", "float", "int", "len", "max", "min", "pow", "range", "round",
                 "sum", "tuple", "zip", "enumerate", "reversed", "sorted", "list")
)  # fmt: skip
#: Largest depth of functions that call functions.
DEPTH = 4


def is_pure(function: Callable[..., Any]) -> bool:
    """Whether a function stores nothing, and refers to no object that could store its arguments.

    function: ``False`` for anything but a Python function or a partial one.
    """
    return _pure(function, DEPTH)


def _pure(x: Any, depth: int) -> bool:
    if isinstance(x, VALUES) or any(x is known for known in COMPUTING):
        return True
    if depth == 0:
        return False
    if isinstance(x, tuple | frozenset):
        return all(_pure(part, depth - 1) for part in x)
    if isinstance(x, functools.partial):
        parts = (x.func, *x.args, *x.keywords.values())
        return all(_pure(part, depth - 1) for part in parts)
    if isinstance(x, types.FunctionType):
        return not _stores(x.__code__) and all(_pure(y, depth - 1) for y in _referred_to(x))
    owner = x.__name__ if isinstance(x, types.ModuleType) else type(x).__module__
    if owner.startswith("numpy.random"):
        return False
    return owner.partition(".")[0] in ("math", "numpy", "robodyn")


@functools.lru_cache(1024)
def _stores(code: types.CodeType) -> bool:
    """Whether a function, or one that it defines, has side effects or handles exceptions.

    Drawing random numbers is a side effect.
    """
    if "random" in code.co_names:
        return True
    inner = (x for x in code.co_consts if isinstance(x, types.CodeType))
    found = any(x.opname in STORING | CATCHING for x in dis.get_instructions(code))
    return found or any(map(_stores, inner))


def _referred_to(function: types.FunctionType) -> Iterator[Any]:
    """Objects of its module, its closure and its defaults that a function refers to."""
    code, outside = function.__code__, function.__globals__
    for name in code.co_names:  # attributes are among them, which need not be names of the module
        if name in outside:
            yield outside[name]
        elif hasattr(builtins, name):
            yield getattr(builtins, name)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
