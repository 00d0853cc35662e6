"""Functions that Python calls in tens of nanoseconds.

A type is made at run time whose instances carry the address of machine code (`entry_ir`) that
Python calls directly [PEP 590]. That code knows the layout of numpy's array header, so layout and
code are tried out before they are trusted; where anything is not as expected (Python without its
global lock, another numpy), there is no such type and functions are called the ordinary way.
"""

from __future__ import annotations

import ctypes
import logging
import struct
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.codegen.llvm import threads
from robodyn.codegen.llvm.cache import compiled, generator_key
from robodyn.codegen.llvm.target import host, load_object, object_code, optimised
from robodyn.codegen.vectorcall.table import COMMON, SPARES, Table
from robodyn.symbolic.graph import Port

__all__ = ["FastType", "fast_type"]

_logger = logging.getLogger(__name__)

#: Work (rows times operations) from which on the interpreter's lock is released.
UNLOCKED_WORK = 30_000

#: From Python's stable ABI: slots, kinds of members and flags of a type.
_TP_CALL, _TP_DOC, _TP_MEMBERS = 50, 56, 72
_SSIZE, _READ_ONLY = 19, 1
_DEFAULT, _HAVE_VECTORCALL, _IMMUTABLE = 1 << 18, 1 << 11, 1 << 8

#: Entries of numpy's C API.
_NEW_FROM_DESCR, _SCALAR = 94, 60


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("pfunc", ctypes.c_void_p))


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


class FastType:
    """A type derived from ``base`` whose instances call the entry.

    Parameters
    ----------
    base : type
    slow : callable
        Called as ``slow(instance, *args, **kwargs)`` with what the entry does not take.
    engine : object
        Machine code with the symbol ``vectorcall``.
    """

    def __init__(self, base: type, slow: Callable[..., Any], engine: Any) -> None:
        self._offset = base.__basicsize__
        self._engine, self._slow = engine, slow
        self._entry = int(engine.get_function_address("vectorcall"))
        self._common = _common(slow)
        self.type = _make_type(base, self._offset)

    @property
    def common(self) -> int:
        """Address of the table that all instances share."""
        return ctypes.addressof(self._common)

    def attach(self, instance: Any, table: Table) -> None:
        """Send calls of an instance to the entry; the instance must keep the table alive."""
        at = id(instance) + self._offset
        ctypes.c_void_p.from_address(at + 8).value = table.address
        ctypes.c_void_p.from_address(at).value = self._entry


def _make_type(base: type, offset: int) -> type:
    """``base`` with two more words: address of the entry, address of the table."""
    name = f"{base.__module__}.{base.__qualname__}".encode()
    doc = ctypes.create_string_buffer((base.__doc__ or "").encode())
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, offset, _READ_ONLY, None))
    slots = (_Slot * 4)(
        _Slot(_TP_CALL, ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p).value),
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        _Slot(_TP_DOC, ctypes.addressof(doc)),
    )
    flags = _DEFAULT | _HAVE_VECTORCALL | _IMMUTABLE
    spec = _Spec(name, offset + 16, 0, flags, ctypes.addressof(slots))
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    make = prototype(("PyType_FromSpecWithBases", ctypes.pythonapi))
    made: type = make(ctypes.addressof(spec), (base,))
    return made


def _common(slow: Callable[..., Any]) -> Any:
    """The shared table. The objects in it live as long as the process."""
    numpy_api = _numpy_api()
    objects = {
        "ndarray": np.ndarray,
        "float64": np.dtype(np.float64),
        "float32": np.dtype(np.float32),
        "out": sys.intern("out"),
        "none": None,
        "tuple": tuple,
        "slow": slow,
    }
    words = {name: id(thing) for name, thing in objects.items()}
    words |= {"limit": threads.limit_address(), "least_work": UNLOCKED_WORK}
    spread = ctypes.cast(threads.spread(), ctypes.c_void_p).value or 0
    words |= {"spread": spread, "pool": threads.pool()}
    words |= {"new_array": numpy_api[_NEW_FROM_DESCR], "new_scalar": numpy_api[_SCALAR]}
    functions = {
        "vectorcall": "PyObject_Vectorcall",
        "bind": "PyMethod_New",
        "incref": "Py_IncRef",
        "decref": "Py_DecRef",
        "new_tuple": "PyTuple_New",
        "set_item": "PyTuple_SetItem",
        "release": "PyEval_SaveThread",
        "acquire": "PyEval_RestoreThread",
    }
    for name, function in functions.items():
        address = ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value
        words[name] = address or 0
    return (ctypes.c_int64 * len(COMMON))(*(words[name] for name in COMMON))


def _numpy_api() -> Any:
    """Numpy's table of C functions."""
    capsule = np._core.multiarray._ARRAY_API  # type: ignore[attr-defined]
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))


def _engine(offset: int) -> Any:
    """The entry, compiled for this Python and CPU."""

    def make() -> bytes:
        # takes a while to import, and is needed once
        from robodyn.codegen.vectorcall.entry_ir import entry_ir

        return object_code(optimised(entry_ir(offset + 8, tuple.__basicsize__)))

    choices = host(), offset, tuple.__basicsize__
    key = generator_key("robodyn.codegen.vectorcall.entry_ir", *choices)
    return load_object(compiled(key, make))


def fast_type(base: type, slow: Callable[..., Any]) -> FastType | None:
    """Type of the functions that are called fast; ``None`` if this Python cannot have it."""
    try:
        if not (_known_python() and _known_layout()):
            return None
        engine = _engine(base.__basicsize__)
        return FastType(base, slow, engine) if _works(base, engine) else None
    except Exception:  # whatever it was: there is the ordinary way
        _logger.warning("functions are called the slower way, through ctypes", exc_info=True)
        return None


def _known_python() -> bool:
    return (
        sys.implementation.name == "cpython"
        and sys.byteorder == "little"
        and struct.calcsize("P") == 8
        and object.__basicsize__ == 16
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
    )


def _known_layout() -> bool:
    """Array headers and tuples look as the entry reads them."""
    if np.ndarray.__basicsize__ < 80:
        return False
    x = np.zeros((2, 3))
    fixed, turned = np.zeros(1), x.T
    fixed.flags.writeable = False

    def word(thing: Any, offset: int, kind: Any = ctypes.c_int64) -> int:
        return int(kind.from_address(id(thing) + offset).value)

    def flags(thing: Any) -> int:
        return word(thing, 64, ctypes.c_int32) & 0x501

    names = ("out",)
    return (
        word(x, 8) == id(np.ndarray)
        and word(x, 16) == x.ctypes.data
        and word(x, 24, ctypes.c_int32) == 2
        and list((ctypes.c_int64 * 2).from_address(word(x, 32))) == [2, 3]
        and word(turned, 48) == id(x)
        and word(x, 56) == id(np.dtype(np.float64))
        and np.ndarray.__weakrefoffset__ == 72
        and word(x, 72) == 0
        and word(x, 0, ctypes.c_int32) + len(more := [x, x]) == word(more[0], 0, ctypes.c_int32)
        and (flags(x), flags(fixed), flags(turned)) == (0x501, 0x101, 0x500)
        and word(names, 16) == 1
        and word(names, tuple.__basicsize__) == id(sys.intern("out"))
    )


def _works(base: type, engine: Any) -> bool:
    """The entry computes, returns, makes arrays and falls back as it should."""
    refused = []
    fast = FastType(base, lambda *given, **named: refused.append((given, named)), engine)
    port = Port("x", (3,))
    table = Table(fast.common, (port,), (port,), 1)
    table["packed"] = int(engine.get_function_address("twice"))
    f: Any = object.__new__(fast.type)
    fast.attach(f, table)
    x, out, twice = np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([2.0, 4.0, 6.0])
    counted = (x, out, x.dtype, None)
    before = [sys.getrefcount(thing) for thing in counted]
    good = f(x, out) is out and np.array_equal(out, twice)
    out[:] = 0.0
    good = good and f(x, out=out) is out and np.array_equal(out, twice)
    results = [f(x), f(x, None), f(x, out=None)]
    for result in results:
        good = good and type(result) is np.ndarray and np.array_equal(result, twice)
    del result
    references = [sys.getrefcount(results[k]) for k in range(3)]
    good = good and references == [2 + (k < SPARES) for k in range(3)]
    del results
    good = good and f(x) is not f(x) and id(f(x)) == table.spare
    table["guarded"] = 1
    good = good and np.array_equal(f(x), twice) and not refused
    f(np.array([1.0, np.nan, 2.0]))
    good = good and len(refused) == 1
    refused.clear()
    table["guarded"] = 0
    after = [sys.getrefcount(thing) for thing in counted]
    good = good and not refused and before[:3] == after[:3]
    wrong: list[Any] = [x[:2], x.astype(np.float32), [1.0], x[::-1], x.view(np.recarray), None]
    for thing in wrong:
        f(thing)
    f(x, x)
    f(x, out=out, more=1)
    f()
    return bool(good) and len(refused) == len(wrong) + 3
