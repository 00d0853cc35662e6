"""Whether the call entry can be trusted: the layout of objects that it reads, and a trial of it.

It computes, converts, returns and falls back as it should. The trial runs once in a process for
each type of callable, before the entry is trusted with anything.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.codegen.vectorcall.signature import FiniteCheck, Parameter, Role, Signature
from robodyn.codegen.vectorcall.table import SPARES, Table
from robodyn.symbolic.graph import Port


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


_X, _TWICE = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])


class _Trial:
    """A callable that doubles three numbers, and what it has refused.

    make: A `VectorcallType` with a slow path.
    kernel: Address of the machine code.
    """

    def __init__(
        self,
        make: Callable[[Callable[..., None]], Any],
        kernel: int,
        parameters: list[Parameter],
        inputs: list[Port],
    ) -> None:
        self.refused: list[Any] = []
        self.fast = make(lambda *given, **named: self.refused.append((given, named)))
        self.signature = Signature(self.fast.common, parameters)
        self.table = Table(inputs, [Port("y", (3,))], 1)
        self.table["packed"] = kernel
        self.call: Any = object.__new__(self.fast.type)
        self.fast.attach(self.call, self.signature)


def works(make: Callable[[Callable[..., None]], Any], kernel: int) -> bool:
    """Whether the entry does what it should.

    make: From a slow path to a `VectorcallType`.
    kernel: Address of ``twice(pointers)``, which doubles three float64 numbers.
    """
    array = Parameter("", Role.ARRAY, positional=True)
    out = Parameter("out", Role.OUT, None, positional=True)
    function = _Trial(make, kernel, [array, out], [Port("x", (3,))])
    function.signature.add(function.table)
    named = [
        Parameter("x", Role.ARRAY, positional=True),
        Parameter("frame", Role.OPTION, positional=True),
        Parameter("axes", Role.OPTION, "body"),
        Parameter("out", Role.OUT, None),
    ]
    method = _Trial(make, kernel, named, [Port("x", (3,))])
    method.signature.add(method.table, {"frame": "hand"})
    return _computes(function) and _guards(function) and _refuses(function) and _binds(method)


def _computes(t: _Trial) -> bool:
    """Results, given or made, with references counted right."""
    f, x, out = t.call, _X.copy(), np.zeros(3)
    counted = (x, out, x.dtype, None)
    before = [sys.getrefcount(thing) for thing in counted]
    good = f(x, out) is out and np.array_equal(out, _TWICE)
    out[:] = 0.0
    good = good and f(x, out=out) is out and np.array_equal(out, _TWICE)
    results = [f(x), f(x, None), f(x, out=None)]
    for result in results:
        good = good and type(result) is np.ndarray and np.array_equal(result, _TWICE)
    del result
    references = [sys.getrefcount(results[k]) for k in range(3)]
    good = good and references == [2 + (k < SPARES) for k in range(3)]
    del results
    good = good and f(x) is not f(x) and id(f(x)) == t.table.spare
    spread = np.zeros((3, 2))
    spread[:, 0] = x
    items = x.tolist()
    unusual: list[Any] = [
        items, tuple(items), [1, 2.0, np.float64(3.0)], [1.0, np.float16(2.0), 3],
        spread[:, 0], x[::-1][::-1],
        x.astype(np.float32)[:, None].astype(np.int8)[:, 0], x.astype(">f8"), x[None, :][0],
    ]  # fmt: skip
    for thing in unusual:
        good = good and np.array_equal(f(thing), _TWICE)
    good = good and np.array_equal(f(x[::-1]), _TWICE[::-1])
    del thing, unusual
    after = [sys.getrefcount(thing) for thing in counted]
    return bool(good) and not t.refused and before[:2] == after[:2]


def _guards(t: _Trial) -> bool:
    """What is not a number is refused by a guarded function."""
    guarded = Signature(t.fast.common, [Parameter("", Role.ARRAY, positional=True)])
    guarded.add(t.table, look=FiniteCheck.RESULTS)
    t.fast.attach(t.call, guarded)
    good = np.array_equal(t.call(_X), _TWICE) and not t.refused
    t.call(np.array([1.0, np.nan, 2.0]))
    good = good and len(t.refused) == 1
    t.refused.clear()
    t.fast.attach(t.call, t.signature)
    return bool(good)


def _refuses(t: _Trial) -> bool:
    """What it does not take goes the slow way."""
    f, x, out, handled = t.call, _X.copy(), np.zeros(3), sys.exc_info()
    wrong: list[Any] = [
        x[:2], x.astype(np.float32), [1.0], [1.0, None, 2.0], [1, 2, 1 << 70], x.view(np.recarray),
        None, "one", x.astype(complex), x.astype(str), x[:, None], 1.0,
    ]  # fmt: skip
    for thing in wrong:
        f(thing)
    f(x, x)
    f(x, out=out, more=1)
    f(x, out, out=out)
    f()
    count, good = len(t.refused), sys.exc_info() == handled
    t.refused.clear()
    return good and count == len(wrong) + 4


def _binds(t: _Trial) -> bool:
    """Arguments by name, defaults, options by identity and by text."""
    f, x = t.call, _X
    other = "".join(["ha", "nd"])
    good = all(
        np.array_equal(result, _TWICE)
        for result in (
            f(x, "hand"), f(x, frame="hand"), f(frame="hand", x=x), f(x, other, axes="body"),
            f(x.tolist(), "hand", out=None),
        )
    )  # fmt: skip
    good = good and not t.refused
    f(x, "foot"), f(x, "hand", axes="world"), f(x), f(x, "hand", "body"), f(x, "hand", x=x)
    f(x, "hand", wrong=1), f("hand", x)
    good = good and len(t.refused) == 7
    t.refused.clear()
    return bool(good)
