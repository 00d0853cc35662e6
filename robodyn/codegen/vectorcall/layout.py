"""Whether this Python and this numpy have the memory layout that the call entry reads."""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from typing import Any

import numpy as np


def known_python() -> bool:
    """The kind of Python that the entry is made for: CPython with its global lock, 64 bits.

    Without the lock, counting references and reading lists as the entry does is not safe; functions
    are called the ordinary way there.
    """
    return (
        sys.implementation.name == "cpython"
        and sys.byteorder == "little"
        and struct.calcsize("P") == 8
        and object.__basicsize__ == 16
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
    )


def known_layout() -> bool:
    """Whether headers of arrays, tuples, lists and floats have the layout that is read."""
    return _arrays() and _python_objects()


def _word(thing: Any, offset: int, kind: Any = ctypes.c_int64) -> int:
    return int(kind.from_address(id(thing) + offset).value)


def _arrays() -> bool:
    if np.ndarray.__basicsize__ < 80:
        return False
    x: Any = np.zeros((2, 3))
    fixed, turned = np.zeros(1), x.T
    fixed.flags.writeable = False
    kinds = {np.float64: "f", np.float16: "f", np.int8: "i", np.uint8: "u", bool: "b"}

    def flags(thing: Any) -> int:
        return _word(thing, 64, ctypes.c_int32) & 0x501

    return (
        _word(x, 8) == id(np.ndarray)
        and _word(x, 16) == x.ctypes.data
        and _word(x, 24, ctypes.c_int32) == 2
        and list((ctypes.c_int64 * 2).from_address(_word(x, 32))) == [2, 3]
        and list((ctypes.c_int64 * 2).from_address(_word(turned, 40))) == [8, 24]
        and _word(turned, 48) == id(x)
        and _word(x, 56) == id(np.dtype(np.float64))
        and np.ndarray.__weakrefoffset__ == 72
        and _word(x, 72) == 0
        and _word(x, 0, ctypes.c_int32) + len(more := [x, x]) == _word(more[0], 0, ctypes.c_int32)
        and (flags(x), flags(fixed), flags(turned)) == (0x501, 0x101, 0x500)
        and all(_word(np.dtype(t), 24, ctypes.c_uint8) == ord(k) for t, k in kinds.items())
    )


def _python_objects() -> bool:
    names, items, nothing = ("out",), [0.5, 2.0], dict[str, int]()
    half = np.float64(0.5)
    numbers = (items[0], half)
    return (
        _word(names, 16) == 1
        and _word(names, tuple.__basicsize__) == id(sys.intern("out"))
        and _word(items, 16) == 2
        and list((ctypes.c_int64 * 2).from_address(_word(items, 24))) == [id(x) for x in items]
        and all(ctypes.c_double.from_address(id(x) + 16).value == 0.5 for x in numbers)
        and all(
            _word(x, 8) == id(type(x)) for x in (names, items, *numbers, "text", nothing, True, 1)
        )
    )
