"""Which rows of the loops straight-line code keeps: enough at every posture that is not singular.

Rows that follow from others in the same way at every posture are dropped. Where dependencies change
with the posture, as in spatial overconstrained linkages, rows are dropped that follow from the
others all along a walk through many postures. Where there are not enough of those, some rows stay
together as a group (`robodyn.equations.elimination.constrained`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.solvers import pivots
from robodyn.closed_loops.solvers.scaling import row_lengths
from robodyn.equations.elimination.constrained import RowGroup
from robodyn.equations.elimination.elimination import FEW
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import INDEPENDENT_ROWS, SAME_DEPENDENCY

#: Rows may be dropped if every dependency, a vector of unit length, has this part in them.
SAFE = 0.15

#: Number of choices of equally many rows that are examined.
MAX_CHOICES = 50


@dataclass(frozen=True)
class RowChoice:
    """Constraint rows over which straight-line code solves.

    rows: Independent ones, and then those of the groups.
    postures: Closed ones, at which an order of elimination is tried.
    """

    rows: tuple[int, ...]
    groups: tuple[RowGroup, ...] = ()
    postures: tuple[tuple[float, ...], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The choice as options of a quantity."""
        found: dict[str, Any] = {"rows": self.rows}
        if self.groups:
            found["groups"] = self.groups
        if len(self.rows) > FEW:
            found["postures"] = self.postures
        return found

    def tried_at(self, postures: FloatArray) -> RowChoice:
        """A copy with postures (n, nq), rounded to be the same on all CPUs."""
        return replace(self, postures=tuple(tuple(map(float, q)) for q in postures.round(6)))


def choose_rows(
    K: FloatArray, rank: int, candidates: NDArray[np.bool_], walk: Callable[[], FloatArray]
) -> RowChoice | None:
    """Rows that give all others at every posture; ``None`` if none are found.

    K (n, nc, nv): At some postures, over speeds of comparable units.
    rank: The same at all of them.
    candidates (m, nc): Rows that are independent at one of them.
    walk: K along a walk through many postures, called where dependencies change.
    """
    kept = _ever_independent(K)
    if len(kept) > rank > 0:
        return _of_changing(np.concatenate([K, walk()])[:, kept], rank, np.array(kept))
    rows = _common_rows(K, candidates, rank)
    return None if rows is None else RowChoice(rows)


def row_scales(K: FloatArray) -> tuple[float, ...]:
    """Factors, powers of 16, that make rows of K (n, r, nv) in different units comparable."""
    size = _sizes(K)
    steps = np.round(np.log(size.max(initial=0.0) / size) / np.log(16.0))
    return tuple(float(16.0**step) for step in steps)


def _sizes(K: FloatArray) -> Array:
    return row_lengths(np.sqrt(np.mean(np.sum(K * K, axis=-1), axis=0)))


def _ever_independent(K: FloatArray) -> list[int]:
    """Fewest rows that give all others by the same dependencies at every posture."""
    count = K.shape[1]
    if not count:
        return []
    A = np.swapaxes(K, 0, 1).reshape(count, -1)
    A = A / _sizes(K)[:, None] / np.sqrt(len(K))
    values = np.linalg.svd(A, compute_uv=False)
    rank = int((values > SAME_DEPENDENCY * values.max(initial=0.0)).sum())
    return sorted(int(k) for k in pivots(A.T[None], rank)[0])


def _common_rows(K: FloatArray, candidates: NDArray[np.bool_], rank: int) -> tuple[int, ...] | None:
    """Rows that are independent, and as many as the rank, at every posture."""
    if rank == 0:
        return ()
    best, found = INDEPENDENT_ROWS, None
    for choice in {tuple(np.flatnonzero(mask)) for mask in candidates}:
        part = K[:, choice, :]
        size = np.linalg.norm(part, axis=-1)
        if not size.all():
            continue
        rows = part / row_lengths(size)[..., None]
        smallest = float(np.linalg.svd(rows, compute_uv=False)[:, rank - 1].min())
        if smallest > best:
            best, found = smallest, tuple(int(k) for k in choice)
    return found


def _of_changing(K: FloatArray, rank: int, names: NDArray[np.intp]) -> RowChoice:
    """A choice among rows whose dependencies change with the posture."""
    P = _dependencies(K / _sizes(K)[:, None], rank)
    rows = list(range(len(names)))
    order: list[int] = []
    groups: list[RowGroup] = []
    for part in _parts(P):
        count = round(float(np.trace(P[0][np.ix_(part, part)])))
        chosen = _safe(P[:, part][:, :, part], count)
        rows = [k for k in rows if k not in {part[i] for i in chosen}]
        if len(chosen) > count:
            together = [part[i] for i in chosen]
            order += together
            weights = tuple(scale**2 for scale in row_scales(K[:, together]))
            groups.append(RowGroup(len(chosen) - count, weights))
    return RowChoice(tuple(int(k) for k in names[rows + order]), tuple(groups))


def _dependencies(K: FloatArray, rank: int) -> FloatArray:
    """Projectors (n, r, r) on the left null spaces of K, at postures where the rank is right."""
    U, values = np.linalg.svd(K)[:2]
    none = SAME_DEPENDENCY * values[:, :1]
    regular = (values[:, :rank] > none).all(axis=1) & (values[:, rank:] <= none).all(axis=1)
    N = U[regular][:, :, rank:]
    return np.asarray(N @ np.swapaxes(N, -1, -2))


def _parts(P: FloatArray) -> list[list[int]]:
    """Groups of rows that depend on one another, directly or through others, at any posture."""
    joined = np.abs(P).max(axis=0) > SAME_DEPENDENCY
    left = [k for k in range(len(joined)) if joined[k, k]]
    parts = []
    while left:
        part = {left[0]}
        while more := {int(j) for k in part for j in np.flatnonzero(joined[k])} - part:
            part |= more
        parts.append(sorted(part))
        left = [k for k in left if k not in part]
    return parts


def _safe(P: FloatArray, count: int) -> list[int]:
    """The fewest rows in which all dependencies have a large part, at every posture.

    P (n, r, r): Projectors on the dependencies.
    count: Of independent dependencies: the fewest rows.
    """
    best = [tuple(range(P.shape[1]))]
    while len(best[0]) > count:
        fewer = sorted({tuple(k for k in one if k != out) for one in best for out in one})
        # singular values of a part of an orthonormal basis are roots of those of the projector
        parts = np.array([np.linalg.eigvalsh(P[:, x][:, :, x])[:, -count].min() for x in fewer])
        order = [int(k) for k in np.argsort(-parts, kind="stable")[:MAX_CHOICES]]
        if parts[order[0]] < SAFE**2:
            break
        best = [fewer[k] for k in order if parts[k] >= SAFE**2]
    return list(best[0])
