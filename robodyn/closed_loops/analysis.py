"""What loops leave of a robot: a closed posture, rank, rows that suffice, independent speeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.closed_loops.solvers import independent_speeds, rank_analysis
from robodyn.errors import AssemblyError

__all__ = ["LoopAnalysis", "Motors", "analyse", "independent_rows", "motors_of"]


#: Closed postures that are looked at.
POSTURES = 6

#: Smallest scaled singular value of rows that are taken to be independent everywhere.
INDEPENDENT = 1e-6


@dataclass(frozen=True, eq=False)
class LoopAnalysis:
    """Rank of the loops, by looking at closed postures.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        A closed posture, as near to the zero position as may be.
    rank : int
        At that posture.
    general_rank : int
        The largest at the postures looked at: that of postures that are not singular.
    rows : tuple of int or None
        Independent rows that span all others at every posture looked at that has this rank;
        ``None`` if there are none.
    redundant : dict of int to tuple of int
        Rows that follow from others, at ``q``.
    independent : tuple of int
        Speeds that determine the others, actuated ones first.
    postures : ndarray, shape (n, nq)
    regular : tuple of int
        Those of the general rank.
    """

    q: FloatArray
    rank: int
    general_rank: int
    rows: tuple[int, ...] | None
    redundant: dict[int, tuple[int, ...]]
    independent: tuple[int, ...]
    postures: FloatArray
    regular: tuple[int, ...]

    def __repr__(self) -> str:
        rows = self.rank + len(self.redundant)
        varies = "" if self.rows is not None else ", which varies"
        return (
            f"<LoopAnalysis: rank {self.rank} of {rows} constraints{varies}, "
            f"independent speeds {self.independent}>"
        )


@dataclass(frozen=True)
class Motors:
    """How the forces at the motors are solved for in straight-line code.

    Attributes
    ----------
    dependent : tuple of int
        Speeds without motor.
    order : tuple of int
        Among the rows used, the one to eliminate with each of them.
    """

    dependent: tuple[int, ...]
    order: tuple[int, ...]


def analyse(
    q: FloatArray,
    jacobian: Callable[[FloatArray], FloatArray],
    mass_matrix: FloatArray,
    closed: Callable[[], FloatArray],
    preferred: tuple[int, ...],
) -> LoopAnalysis:
    """Analyse the loops of a robot.

    Parameters
    ----------
    q : ndarray, shape (nq,)
        A closed posture.
    jacobian : callable
        (..., nq) -> (..., nc, nv).
    mass_matrix : ndarray, shape (nv, nv)
        To compare speeds in m/s and rad/s.
    closed : callable
        Makes another closed posture, or raises `AssemblyError`.
    preferred : tuple of int
        Speeds that should be independent.
    """
    postures = [q]
    for _ in range(2 * POSTURES):
        if len(postures) >= POSTURES:
            break
        try:
            postures.append(closed())
        except AssemblyError:
            continue
    K = np.array([jacobian(x) for x in postures])
    weights = _positive(mass_matrix)
    there = rank_analysis(K, weights)
    ranks = [int(r) for r in there.rank]
    general = max(ranks)
    regular = [k for k, rank in enumerate(ranks) if rank == general]
    rows = _common_rows(K[regular], weights, there.independent[regular], general)
    chosen = independent_speeds(K[0], preferred, weights)
    return LoopAnalysis(
        q,
        ranks[0],
        general,
        rows,
        there.redundant((0,)),
        chosen.independent,
        np.array(postures),
        tuple(regular),
    )


def _positive(M: FloatArray) -> FloatArray:
    """A diagonal to scale speeds by, where some may move no mass."""
    size = np.diag(M)
    largest = size.max(initial=0.0) or 1.0
    return np.diag(np.where(size > 1e-12 * largest, size, largest))


def _common_rows(
    K: FloatArray, weights: FloatArray, candidates: NDArray[np.bool_], rank: int
) -> tuple[int, ...] | None:
    """Rows that are independent, and as many as the rank, at every posture."""
    if rank == 0:
        return ()
    scale = 1.0 / np.sqrt(np.diag(weights))
    best, found = INDEPENDENT, None
    for choice in {tuple(np.flatnonzero(mask)) for mask in candidates}:
        part = K[:, choice, :] * scale
        size = np.linalg.norm(part, axis=-1, keepdims=True)
        if not size.all():
            continue
        smallest = float(np.linalg.svd(part / size, compute_uv=False)[:, rank - 1].min())
        if smallest > best:
            best, found = smallest, tuple(int(k) for k in choice)
    return found


def independent_rows(K: FloatArray) -> bool:
    """Whether the rows of K (n, r, nv), in any units, are independent at all of n postures."""
    if not K.shape[1]:
        return True
    size = np.linalg.norm(K, axis=-1, keepdims=True)
    if not size.all():
        return False
    return bool(np.linalg.svd(K / size, compute_uv=False).min() > INDEPENDENT)


def motors_of(K: FloatArray, actuated: tuple[int, ...]) -> Motors | None:
    """Order of elimination for motors that are as many as the motions, if they determine them.

    Parameters
    ----------
    K : ndarray, shape (r, nv)
        Independent rows, at a posture without symmetry.
    actuated : tuple of int
        Speeds with motors.
    """
    rank, nv = K.shape
    dependent = [k for k in range(nv) if k not in actuated]
    if len(dependent) != rank:
        return None
    A: Any = K[:, dependent].T.copy()
    size = np.abs(A).max(initial=0.0)
    speeds, rows = list(range(rank)), list(range(rank))
    for k in range(rank):
        i, j = np.unravel_index(np.abs(A[k:, k:]).argmax(), (rank - k, rank - k))
        i, j = int(i) + k, int(j) + k
        if not abs(A[i, j]) > 1e-9 * size:
            return None
        A[[k, i]] = A[[i, k]]
        A[:, [k, j]] = A[:, [j, k]]
        speeds[k], speeds[i] = speeds[i], speeds[k]
        rows[k], rows[j] = rows[j], rows[k]
        A[k + 1 :, k:] -= np.outer(A[k + 1 :, k] / A[k, k], A[k, k:])
    return Motors(tuple(dependent[k] for k in speeds), tuple(rows))
