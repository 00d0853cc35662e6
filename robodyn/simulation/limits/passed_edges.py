"""Machine code that finds which columns of samples leave their ranges, and where first."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.llvm.builder.addresses import address_of
from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import LoadedFunction
from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.codegen.llvm.target.once import once

__all__ = ["PassedEdges", "passed_edges"]

#: Number of rows that are examined together, so that inner loops are long.
TOGETHER = 8

_FIND = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * 2, ctypes.c_void_p)


class PassedEdges(NamedTuple):
    """Where columns leave their ranges: at the k lower edges, and then at the k upper edges.

    Attributes
    ----------
    rows : list of int, size 2 k
        The first row beyond each edge; -1 where there is none.
    peaks : list of float, size 2 k
        The smallest and then the largest numbers of the columns.
    """

    rows: list[int]
    peaks: list[float]


def passed_edges(x: FloatArray, edges: FloatArray) -> PassedEdges | None:
    """Where columns leave their ranges; ``None`` if they do not. NaNs are ignored.

    Parameters
    ----------
    x : ndarray, shape (n, k)
        In C order.
    edges : ndarray, shape (2, k)
        Below and above, in C order; infinite where there is none.
    """
    n, k = x.shape
    found = np.empty((4 + 2 * TOGETHER) * k)
    if not _program().run(address_of(x), n, address_of(edges), k, address_of(found)):
        return None
    rows = found[2 * k : 4 * k].view(np.int64)
    return PassedEdges(rows.tolist(), found[: 2 * k].tolist())


@once
def _program() -> LoadedFunction:
    return LoadedFunction(_text(), "passed_edges", "looking at limits", _FIND)


def _text() -> str:
    """IR of a function that tells whether there are any."""
    code = Code("@passed_edges(ptr %x, i64 %n, ptr %edges, i64 %k, ptr %found)", "i64")
    n, k = code.argument("n", "i64"), code.argument("k", "i64")
    x, edges, found = (Buffer(code, f"%{name}") for name in ("x", "edges", "found"))
    peaks = found.part(4 * k), found.part((4 + TOGETHER) * k)
    signs = ("<", ">")
    _find_peaks(code, x, n, k, peaks)
    count = code.variable(0)
    for side, sign in enumerate(signs):
        for j in code.each(k):
            at, edge, peak = j + side * k, edges.get(j + side * k), peaks[side].get(j)
            found.put(at, peak)
            first = code.variable(-1)
            with code.when(code.operation(sign, peak, edge), expected=False):
                for row in code.each(n, until=partial(_known, first)):
                    with code.when(code.operation(sign, x.get(row * k + j), edge)):
                        first.value = row
                count.value = count.value + 1
            code.store(first.value, found.pointer, at + 2 * k, "i64")
    code.give(count.value)
    return code.ir()


def _known(row: Variable) -> Number:
    return row.value >= 0


def _find_peaks(code: Code, x: Buffer, n: Number, k: Number, peaks: tuple[Buffer, Buffer]) -> None:
    """Write what finds the least and the largest number of each column."""
    for peak, start in zip(peaks, ("0x7FF0000000000000", "0xFFF0000000000000"), strict=True):
        for j in code.each(k * TOGETHER):
            peak.put(j, Number(code, start, "double"))

    def look(j: Number, value: Number) -> None:
        for peak, sign in zip(peaks, ("<", ">"), strict=True):
            known = peak.get(j)
            peak.put(j, code.choose(code.operation(sign, value, known), value, known))

    groups = n / TOGETHER
    for group in code.each(groups):
        some = x.part(group * TOGETHER * k)
        for j in code.each(k * TOGETHER):
            look(j, some.get(j))
    for row in code.each(n, start=groups * TOGETHER):
        for j in code.each(k):
            look(j, x.get(row * k + j))
    for group in code.each(TOGETHER, start=1):
        for peak, sign in zip(peaks, ("<", ">"), strict=True):
            for j in code.each(k):
                value, known = peak.get(group * k + j), peak.get(j)
                peak.put(j, code.choose(code.operation(sign, value, known), value, known))
