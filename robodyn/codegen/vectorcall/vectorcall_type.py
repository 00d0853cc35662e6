"""Types of callables that Python calls in tens of nanoseconds.

A type is made at run time whose instances carry the address of machine code (`entry_ir`) that
Python calls directly [PEP 590]. That code knows the layout of numpy's array header, so layout and
code are tried out before they are trusted; where anything is not as expected (Python without its
global lock, another numpy), there is no such type and functions are called the ordinary way.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.cache.object_code import generator_key
from robodyn.codegen.llvm.compilation.machine_code import MachineCode, machine_code
from robodyn.codegen.llvm.compilation.mode import get_compilation
from robodyn.codegen.llvm.target.once import Memo, making, without_collections
from robodyn.codegen.llvm.target.target import Recipe, chosen_target
from robodyn.codegen.vectorcall.signature import Signature
from robodyn.codegen.vectorcall.table import COMMON
from robodyn.codegen.vectorcall.trial import known_layout, known_python, works
from robodyn.errors import SettingsError
from robodyn.motion.base_motion import BaseMotion

#: Work (rows times operations) from which on the interpreter's lock is released.
UNLOCKED_WORK = 30_000

#: Calls of all instances together before the entry is made, which takes a tenth of the time to the
#: first torque; with eager compilation there are none.
FEW = 12

#: From Python's stable ABI: slots, kinds of members and flags of a type.
_TP_DOC, _TP_MEMBERS = 56, 72
_SSIZE, _READ_ONLY = 19, 1
_DEFAULT, _HAVE_VECTORCALL, _IMMUTABLE = 1 << 18, 1 << 11, 1 << 8

#: Entries of numpy's C API.
_NUMPY = {"new_array": 94, "new_scalar": 60, "convert": 69}

#: Functions of Python's C API.
_PYTHON = {
    "vectorcall": "PyObject_Vectorcall",
    "bind": "PyMethod_New",
    "incref": "Py_IncRef",
    "decref": "Py_DecRef",
    "new_tuple": "PyTuple_New",
    "set_item": "PyTuple_SetItem",
    "release": "PyEval_SaveThread",
    "acquire": "PyEval_RestoreThread",
    "forget": "PyErr_Clear",
    "raised": "PyErr_Occurred",
    "compare": "PyUnicode_Compare",
    "next_item": "PyDict_Next",
    "attribute": "PyObject_GetAttr",
    "integer": "PyLong_AsLongLong",
}


def never_changed(what: str) -> Any:
    """``__setattr__`` and ``__delattr__`` of objects whose signature machine code points into."""

    def refuse(self: Any, name: str, *value: Any) -> None:
        raise AttributeError(f"{what} is never changed ({name!r})")

    return refuse


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


class VectorcallType:
    """A type derived from ``base`` whose instances call the entry.

    Before that is made their calls take the ordinary way.

    slow: Called as ``slow(instance, *args, **kwargs)`` with what the entry does not take.
    """

    def __init__(self, base: type, slow: Callable[..., Any]) -> None:
        self._base, self._slow, self._offset = base, slow, base.__basicsize__
        self._code: MachineCode | None = None
        self._entry = 0
        #: Instances that do not call the full code of the entry yet.
        self._early: weakref.WeakSet[Any] = weakref.WeakSet()
        self._common: Any = (ctypes.c_int64 * len(COMMON))()
        self._calls = FEW
        self.type = _make_type(base, self._offset)

    def begin(self, code: MachineCode) -> None:
        """Let all instances call an entry: ``code`` has the symbol ``vectorcall``."""
        self._common[:] = _common(self._slow)
        with making():
            self._code = code
            code.when_full(self._place)
            self._place()

    def _place(self) -> None:
        """Let all instances call the best code of the entry that there is."""
        assert self._code is not None
        self._entry = self._code.address("vectorcall")
        for instance in self._early:
            self._send(instance)
        if self._code.full:
            self._early.clear()

    def _send(self, instance: Any) -> None:
        ctypes.c_void_p.from_address(id(instance) + self._offset).value = self._entry or None

    @property
    def common(self) -> int:
        """Address of the words that all instances share."""
        return ctypes.addressof(self._common)

    def attach(self, instance: Any, signature: Signature) -> None:
        """Send calls of an instance to the entry; the instance has to keep the signature.

        A table of all instances would keep them for ever: what makes their results refers to them.
        """
        at = id(instance) + self._offset
        ctypes.c_void_p.from_address(at + 8).value = signature.address
        with making():
            if self._code is None or not self._code.full:
                self._early.add(instance)
            self._send(instance)

    def called(self) -> None:
        """Count a call that takes the ordinary way: after a few the entry is made."""
        if self._calls:
            self._calls -= 1
            if not self._calls:
                self.make()

    def make(self) -> bool:
        """Make the entry, and try it out; returns whether it does what it should."""

        def trial(refuse: Callable[..., Any]) -> VectorcallType:
            found = VectorcallType(self._base, refuse)
            found.begin(code)
            return found

        try:
            with making(), without_collections():
                code = _code(self._offset)
                good = works(trial, code.address("twice"))
                if good:
                    self.begin(code)
            return good
        except SettingsError:  # a setting of the user, such as ROBODYN_TARGET, is wrong
            raise
        except Exception:  # whatever it was: calls can go through ctypes
            import logging  # takes a while to import, and is hardly ever needed

            logging.getLogger(__name__).warning(
                "functions are called the slower way, through ctypes", exc_info=True
            )
            return False


def _make_type(base: type, offset: int) -> type:
    """``base`` with two more words: address of the entry, address of the signature.

    Without an entry Python calls instances as it does those of ``base``.
    """
    name = f"{base.__module__}.{base.__qualname__}".encode()
    doc = ctypes.create_string_buffer((base.__doc__ or "").encode())
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, offset, _READ_ONLY, None))
    slots = (_Slot * 3)(
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        _Slot(_TP_DOC, ctypes.addressof(doc)),
    )
    flags = _DEFAULT | _HAVE_VECTORCALL
    if sys.version_info < (3, 12):  # later ones take the entry back if the type's call is replaced
        flags |= _IMMUTABLE
    spec = _Spec(name, offset + 16, 0, flags, ctypes.addressof(slots))
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    make = prototype(("PyType_FromSpecWithBases", ctypes.pythonapi))
    made: type = make(ctypes.addressof(spec), (base,))
    return made


def _common(slow: Callable[..., Any]) -> list[int]:
    """The shared words. The objects in them live as long as the process."""
    objects = {
        "ndarray": np.ndarray,
        "float64": np.dtype(np.float64),
        "float32": np.dtype(np.float32),
        "none": None,
        "true": True,
        "false": False,
        "tuple": tuple,
        "list": list,
        "dict": dict,
        "str": str,
        "float": float,
        "number": np.float64,
        "int": int,
        "bool": bool,
        "motion": BaseMotion,
        "slow": slow,
    }
    objects |= {name: sys.intern(name) for name in ("pose", "twist", "acceleration")}
    words = {name: id(thing) for name, thing in objects.items()}
    words |= {"limit": threads.limit_address(), "least_work": UNLOCKED_WORK}
    words["caches"] = size_of_caches() // 2  # other data and other programs need some of it, too
    words |= {"parallel_for": threads.parallel_for_address(), "pool": threads.pool()}
    numpy_api = _numpy_api()
    words |= {name: numpy_api[entry] for name, entry in _NUMPY.items()}
    for name, function in _PYTHON.items():
        address = ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value
        words[name] = address or 0
    return [words[name] for name in COMMON]


def _numpy_api() -> Any:
    """Numpy's table of C functions."""
    capsule = np._core.multiarray._ARRAY_API  # type: ignore[attr-defined]
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))


#: Folder in which Linux describes the caches of a processor.
_LINUX = "/sys/devices/system/cpu/cpu0/cache"

#: Assumed size if it is not known [bytes].
_USUAL = 32 << 20

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of_caches() -> int:
    """Size of the last-level cache [bytes]."""
    try:
        folders = [x for x in os.listdir(_LINUX) if x.startswith("index")]
        return max(map(_size, folders), default=0) or _USUAL
    except OSError:
        return _USUAL


def _size(folder: str) -> int:
    with open(f"{_LINUX}/{folder}/size", encoding="ascii") as file:
        match = re.fullmatch(r"(\d+)([KMG]?)", file.read().strip())
    return int(match[1]) * _UNITS[match[2]] if match else 0


_codes: Memo[MachineCode] = Memo()


def _code(offset: int) -> MachineCode:
    """The entry, compiled for this Python and CPU; types of one size share it."""

    def ir() -> str:
        # takes a while to import, and is needed once
        from robodyn.codegen.vectorcall.entry_ir import entry_ir

        return entry_ir(offset + 8, tuple.__basicsize__)

    def make() -> MachineCode:
        choices = chosen_target(), offset, tuple.__basicsize__
        key = generator_key("robodyn.codegen.vectorcall.entry_ir", *choices)
        return machine_code(key, ir, Recipe("registers"), "the entry of calls")

    return _codes.get(offset, make)


def vectorcall_type(base: type, slow: Callable[..., Any]) -> VectorcallType | None:
    """Type of the callables that are called fast; ``None`` if this Python cannot have it."""
    if not (known_python() and known_layout()):
        return None
    found = VectorcallType(base, slow)
    return found if get_compilation() != "eager" or found.make() else None
