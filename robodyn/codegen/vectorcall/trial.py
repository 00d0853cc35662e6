"""A trial of the call entry: it computes, converts, returns and falls back as it should.

It runs once in a process for each type of callable, before the entry is trusted with anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.codegen.vectorcall.signature import FiniteCheck, Parameter, Role, Signature
from robodyn.codegen.vectorcall.table import SPARES, Table
from robodyn.symbolic.graph import Port

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
