"""The order in which speeds and multipliers of a closed linkage are eliminated.

Speeds go from the leaves of the tree to its root. A row may go as soon as all speeds are gone that
it is about: then its pivot vanishes at singular postures alone. Where loops of many limbs have the
speeds of a platform or a crank in common, these rows would all wait for it, and fill one another.
Such a row goes earlier, as soon as the speeds of its limb have given it a large pivot wherever it
is tried. Each loop then is a block of its own, that leaves a mass on what the limbs have in common.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic import ops
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Scalar, is_zero

#: Rows and products from which on another order is looked for, and the part of these products that
#: it may take.
FEW, MANY, LESS = 12, 600, 0.8

#: Part of a pivot that there must be of it where its row is eliminated early.
LARGE = 0.05

#: Number of postures at which pivots are evaluated.
TRIED = 4


def elimination_order(
    M: Matrix, rows: Sequence[Row], single: int
) -> tuple[list[int], frozenset[int]]:
    """After which speed each of the first rows is eliminated, and which of them are before others.

    single: How many of them are eliminated one by one.
    """
    of_rows = [{k for k, x in row.jacobian.items() if not is_zero(x)} for row in rows[:single]]
    usual = [min(row.jacobian, default=0) for row in rows[:single]]
    most = _cost(M, of_rows, usual) if single > FEW else 0
    if most < MANY:
        return usual, frozenset()
    systems = _numbers(M, rows[:single])
    if systems is None:
        return usual, frozenset()
    order = as_soon_as_possible(systems, len(M), of_rows)
    if _cost(M, of_rows, order) > LESS * most:
        return usual, frozenset()
    return order, frozenset(r for r, k in enumerate(order) if k > usual[r])


def as_soon_as_possible(
    A: FloatArray, nv: int, of_rows: Sequence[set[int]], large: float = LARGE
) -> list[int]:
    """The speed after which the pivot of each row is large in all systems, the last one first.

    A (n, nv + r, nv + r): Masses, with rows below and beside them.
    of_rows: Speeds that each row is about.
    large: Part of a pivot, as of `LARGE`.
    """
    A, K = A.copy(), A[:, nv:, :nv]
    order, waiting = [min(speeds, default=0) for speeds in of_rows], set(range(len(of_rows)))
    with np.errstate(all="ignore"):
        size = np.einsum("nij,nji->ni", K, np.linalg.pinv(A[:, :nv, :nv]) @ K.swapaxes(1, 2))
        for k in range(nv - 1, -1, -1):
            _eliminate(A, k)
            for r in sorted(waiting):
                part = np.nan_to_num(-A[:, nv + r, nv + r] / size[:, r], nan=0.0).min()
                if k == order[r] or (k in of_rows[r] and part > large):
                    order[r] = k
                    waiting.remove(r)
                    _eliminate(A, nv + r)
    return order


def _eliminate(A: FloatArray, p: int) -> None:
    """Eliminate an unknown of systems (n, size, size), in place."""
    column = A[:, p].copy()
    A -= column[:, :, None] * (column / column[:, p, None])[:, None, :]
    A[:, p], A[:, :, p] = 0.0, 0.0


def _sequence(nv: int, order: Sequence[int]) -> list[int]:
    """Speeds, and rows as nv and more, one after the other."""
    after: dict[int, list[int]] = {}
    for r, k in enumerate(order):
        after.setdefault(k, []).append(nv + r)
    return [x for k in range(nv - 1, -1, -1) for x in (k, *after.get(k, ()))]


def _cost(M: Matrix, of_rows: Sequence[set[int]], order: Sequence[int]) -> int:
    """Number of products for an order."""
    nv = len(M)
    beside: dict[int, set[int]] = {
        i: {j for j in range(nv) if j != i and not is_zero(M[max(i, j)][min(i, j)])}
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
    places = (a for op, a in zip(graph.op, graph.a, strict=True) if op == ops.INPUT)
    count = 1 + max(places, default=0)
    ports = (Port("x", (count,)),), (Port("entries", (len(symbols),)),)
    program = Program("entries", *ports, graph, tuple(x.edge for _, _, x in symbols))
    k, n = np.arange(1, count + 1), np.arange(TRIED)[:, None]
    tried = 0.9 * np.sin(1.7 * k + 2.3 * n)
    for index, example in graph.examples.items():
        if index < count:
            tried[:, index] = np.resize(example, TRIED)
    with np.errstate(all="ignore"):
        (values,) = evaluate(program, tried)
    for (i, j, _), x in zip(symbols, values.T, strict=True):
        A[:, i, j] = A[:, j, i] = x
    return A
