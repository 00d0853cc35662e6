"""In which order the speeds and multipliers of a closed linkage are eliminated.

Speeds go from the leaves of the tree to its root. A row may go as soon as all speeds are gone that
it is about: then its pivot vanishes at singular postures alone. Where one speed, of a crank with
many legs, is in many rows, these would all wait for it, and fill one another. Such a row goes
before that speed, if its other speeds have given it a large pivot wherever it is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.tree.composite_body import Matrix
from robodyn.joints.common.cut import Row
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import INPUT, Port, Program
from robodyn.symbolic.scalar import Scalar

__all__ = ["elimination_order"]

#: Part of the rows from which on they have a speed in common, and how few rows need not care.
COMMON, FEW = 1 / 3, 12

#: Operations from which on a better order is looked for, and the part of them that it may take.
MANY, LESS = 2000, 0.6

#: Part of its pivot that other rows must leave of a row.
LARGE = 0.05

#: Postures at which that is tried.
TRIED = 4


def elimination_order(
    M: Matrix, rows: Sequence[Row], single: int
) -> tuple[list[int], frozenset[int]]:
    """After which speed each of the first rows is eliminated, and which of them are before others.

    Parameters
    ----------
    M : Matrix
    rows : sequence of Row
    single : int
        How many of them are eliminated one by one.
    """
    of_rows = [{k for k, x in row.jacobian.items() if not _is_zero(x)} for row in rows[:single]]
    usual = [min(row.jacobian, default=0) for row in rows[:single]]
    common = {k for k in range(len(M)) if sum(k in s for s in of_rows) > COMMON * single}
    early = {
        r: min(speeds - common)
        for r, speeds in enumerate(of_rows)
        if speeds & common and speeds - common and min(speeds - common) > usual[r]
    }
    most = _cost(M, of_rows, usual) if early and single > FEW else 0
    if most < MANY:
        return usual, frozenset()
    systems = _numbers(M, rows[:single])
    while early:
        order = [early.get(r, k) for r, k in enumerate(usual)]
        if systems is None or _cost(M, of_rows, order) > LESS * most:
            break
        part = _least_part(systems, len(M), order)
        weak = {r for r in early if part[r] < LARGE}
        if not weak:
            return order, frozenset(early)
        early = {r: k for r, k in early.items() if r not in weak}
    return usual, frozenset()


def _is_zero(x: Any) -> bool:
    return x.__class__ is float and not x


def _sequence(nv: int, order: Sequence[int]) -> list[int]:
    """Speeds, and rows as nv and more, one after the other."""
    after: dict[int, list[int]] = {}
    for r, k in enumerate(order):
        after.setdefault(k, []).append(nv + r)
    return [x for k in range(nv - 1, -1, -1) for x in (k, *after.get(k, ()))]


def _cost(M: Matrix, of_rows: Sequence[set[int]], order: Sequence[int]) -> int:
    """Products that an order takes."""
    nv = len(M)
    beside: dict[int, set[int]] = {
        i: {j for j in range(nv) if j != i and not _is_zero(M[max(i, j)][min(i, j)])}
        for i in range(nv)
    }
    for r, speeds in enumerate(of_rows):
        beside[nv + r] = {*speeds}
        for k in speeds:
            beside[k].add(nv + r)
    total = 0
    for p in _sequence(nv, order):
        others = beside.pop(p)
        total += len(others) * (len(others) + 1) // 2
        for i in others:
            beside[i] |= others
            beside[i] -= {i, p}
    return total


def _numbers(M: Matrix, rows: Sequence[Row]) -> FloatArray | None:
    """The systems (n, nv + r, nv + r) at some postures; `None` if no symbol is in them."""
    nv, size = len(M), len(M) + len(rows)
    entries = [(i, j, M[i][j]) for i in range(nv) for j in range(i + 1)]
    entries += [(nv + r, k, x) for r, row in enumerate(rows) for k, x in row.jacobian.items()]
    A = np.zeros((TRIED, size, size))
    symbols = [(i, j, x) for i, j, x in entries if isinstance(x, Scalar)]
    if not symbols:
        return None
    for i, j, x in entries:
        if not isinstance(x, Scalar):
            A[:, i, j] = A[:, j, i] = float(x)
    graph = symbols[0][2].graph
    count = 1 + max((a for op, a in zip(graph.op, graph.a, strict=True) if op == INPUT), default=0)
    ports = (Port("x", (count,)),), (Port("entries", (len(symbols),)),)
    program = Program("entries", *ports, graph, tuple(x.edge for _, _, x in symbols))
    k, n = np.arange(1, count + 1), np.arange(TRIED)[:, None]
    tried = 0.9 * np.sin(1.7 * k + 2.3 * n)
    for index, example in graph.examples.items():
        if index < count:
            tried[:, index] = example
    with np.errstate(all="ignore"):
        (values,) = evaluate(program, tried)
    for (i, j, _), x in zip(symbols, values.T, strict=True):
        A[:, i, j] = A[:, j, i] = x
    return A


def _least_part(A: FloatArray, nv: int, order: Sequence[int]) -> FloatArray:
    """Of each row the least part of its pivot that the rows before it leave of it."""
    A = A.copy()
    before, part = np.zeros((len(A), len(order))), np.zeros(len(order))
    with np.errstate(all="ignore"):
        for p in _sequence(nv, order):
            pivot, column = A[:, p, p].copy(), A[:, p].copy()
            if p < nv:
                before += column[:, nv:] ** 2 / pivot[:, None]
            else:
                part[p - nv] = np.nan_to_num(-pivot / before[:, p - nv], nan=0.0).min()
            A -= column[:, :, None] * column[:, None, :] / pivot[:, None, None]
            A[:, p], A[:, :, p] = 0.0, 0.0
    return part
