"""Analysis of loops: a closed posture, rank, rows that suffice, independent speeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.closed_loops.rank.row_choice import RowChoice, choose_rows, row_scales
from robodyn.closed_loops.solvers import independent_speeds, rank_analysis
from robodyn.closed_loops.solvers.scaling import row_lengths
from robodyn.errors import AssemblyError
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import HELD_BY_MOTORS, INDEPENDENT_ROWS

#: Number of closed postures examined.
POSTURES = 6

#: Part of its rows that a pivot should be at every posture, and must be where many rows are left.
PIVOT, WEAK = 0.3, 1e-3

#: Least part of every motion that motors determine at half of the postures examined.
HELD = HELD_BY_MOTORS[1]

#: Speeds, some of them without motor, among which code shares forces: it grows with their cube.
MOST_SPEEDS = 60

#: Largest number of rows for which pivots of two rows are searched.
FEW = 12


@dataclass(frozen=True, eq=False)
class LoopAnalysis:
    """Rank of the loops, from closed postures.

    q (nq,): A closed posture, as near to the zero position as may be.
    rank: At that posture.
    general_rank: That of the postures around `q` that are not singular.
    choice: Rows that span all others at every posture looked at that has this rank; ``None`` if
        there are none, or if loops that are assembled in another way have a larger rank.
    redundant: Rows that follow from others, at ``q``.
    independent: Speeds that determine the others, actuated ones first.
    postures (n, nq)
    regular: Those of the general rank.
    """

    q: FloatArray
    rank: int
    general_rank: int
    choice: RowChoice | None
    redundant: Mapping[int, tuple[int, ...]]
    independent: tuple[int, ...]
    postures: FloatArray
    regular: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("q", "postures"):
            x = getattr(self, name).copy()
            x.flags.writeable = False
            object.__setattr__(self, name, x)
        object.__setattr__(self, "redundant", MappingProxyType(self.redundant))

    def __repr__(self) -> str:
        rows = self.rank + len(self.redundant)
        varies = "" if self.choice is not None else ", which varies"
        return (
            f"<LoopAnalysis: rank {self.rank} of {rows} constraints{varies}, "
            f"independent speeds {self.independent}>"
        )


@dataclass(frozen=True)
class Motors:
    """How straight-line code solves for the forces of as many motors as degrees of freedom.

    dependent: Speeds without motor.
    order: Among the rows used, one or two to eliminate with the next one or two of them; the other
        rows balance the other speeds in the least squares.
    scales: Makes each of the rows comparable with the others.
    """

    dependent: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]
    scales: tuple[float, ...] = ()


@dataclass(frozen=True)
class SpareMotors:
    """How straight-line code solves for the forces of more motors than degrees of freedom.

    motors: Speeds with motors.
    scales: Makes each of the rows used comparable with the others.
    """

    motors: tuple[int, ...]
    scales: tuple[float, ...]


def analyse(
    q: FloatArray,
    jacobian: Callable[[FloatArray], FloatArray],
    mass_matrix: FloatArray,
    closed: Callable[[], FloatArray],
    is_regular: bool,
    preferred: tuple[int, ...],
    walk: Callable[[], FloatArray],
) -> LoopAnalysis:
    """Analyse the loops of a robot.

    q (nq,): A closed posture.
    jacobian: (..., nq) -> (..., nc, nv).
    mass_matrix (nv, nv): To compare speeds in m/s and rad/s.
    closed: Makes another closed posture, or raises `AssemblyError`.
    is_regular: Whether loops have the rank of ``q`` at all postures around it.
    preferred: Speeds that should be independent.
    walk: Makes many closed postures, (n, nq); called where redundant rows ask for it.
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
    general = ranks[0] if is_regular else max(ranks)
    regular = [k for k, rank in enumerate(ranks) if rank == general]
    scale = 1.0 / np.sqrt(np.diag(weights))
    choice = None
    if general == max(ranks):
        choice = choose_rows(
            K[regular] * scale,
            general,
            there.independent[regular],
            lambda: jacobian(walk()) * scale,
        )
    if choice is not None:
        choice = choice.tried_at(np.array(postures)[regular])
    return LoopAnalysis(
        q,
        ranks[0],
        general,
        choice,
        there.redundant((0,)),
        independent_speeds(K[0], preferred, weights),
        np.array(postures),
        tuple(regular),
    )


def _positive(M: FloatArray) -> FloatArray:
    """A positive diagonal that scales speeds, also if some of them move no mass."""
    size = np.diag(M)
    largest = size.max(initial=0.0) or 1.0
    return np.diag(np.where(size > 1e-12 * largest, size, largest))


def spanning_rows(K: FloatArray, rank: int, columns: Sequence[int]) -> bool:
    """Whether some columns of rows K (n, r, nv), in any units, have a rank at all of n postures."""
    if not rank:
        return True
    if min(K.shape[1], len(columns)) < rank:
        return False
    rows = (K / row_lengths(np.linalg.norm(K, axis=-1))[..., None])[..., columns]
    values = np.linalg.svd(rows, compute_uv=False)
    return bool(values[:, rank - 1].min() > INDEPENDENT_ROWS)


def motors_of(
    K: FloatArray, choice: RowChoice, rank: int, actuated: tuple[int, ...]
) -> Motors | None:
    """Elimination order for as many motors as degrees of freedom, if they determine all.

    K (n, r, nv): The rows chosen, along a walk from a posture without symmetry.
    rank: Of all rows.
    actuated: Speeds with motors.
    """
    dependent = [k for k in range(K.shape[2]) if k not in actuated]
    if len(dependent) != rank:
        return None
    scales = row_scales(K)
    A = np.swapaxes(K[:, :, dependent], 1, 2) * scales
    if not _determined(A[0]):
        return None
    single = K.shape[1] - sum(len(group.weights) for group in choice.groups)
    pivots = _pivots(A, single)
    speeds = [k for block, _ in pivots for k in block]
    speeds += [k for k in range(rank) if k not in speeds]
    order = tuple(rows for _, rows in pivots)
    return Motors(tuple(dependent[k] for k in speeds), order, scales)


def spare_motors_of(
    K: FloatArray, choice: RowChoice, rank: int, actuated: tuple[int, ...]
) -> SpareMotors | None:
    """Data for more motors than degrees of freedom, if they determine all motions.

    Arguments as for `motors_of`.
    """
    free = K.shape[2] - len(actuated)
    if free >= rank or (free and K.shape[2] > MOST_SPEEDS):
        return None
    scales = row_scales(K)
    motions = np.linalg.svd(K * np.array(scales)[:, None])[2][:, rank:]
    held = np.linalg.svd(motions[:, :, list(actuated)], compute_uv=False).min(axis=-1, initial=1.0)
    return SpareMotors(actuated, scales) if np.median(held) > HELD else None


def _determined(A: FloatArray) -> bool:
    """Whether rows of any size are independent."""
    size = np.linalg.norm(A, axis=-1, keepdims=True)
    return bool(size.all()) and (
        not A.size or float(np.linalg.svd(A / size, compute_uv=False).min()) > 1e-9
    )


def _pivots(A: FloatArray, single: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Rows and columns of A (n, r, m) to eliminate with one another: pivots large at every posture.

    Columns from ``single`` on are left. Pivots are single, or two by two where no number is large
    everywhere. A pivot is judged by its part of its rows, which bounds what elimination adds to
    others; of good ones that fill fewest zeros [Markowitz 1957] the largest is taken.
    """
    A, found = A.copy(), []
    rows, columns = list(range(A.shape[1])), list(range(single))
    while rows:
        best = _pivot(A, rows, columns, 1, PIVOT)
        if len(rows) <= FEW:
            best = best or _pivot(A, rows, columns, 2, PIVOT)
        else:
            best = best or _pivot(A, rows, columns, 1, WEAK)
        if best is None:
            break
        found.append(best)
        own, across = (list(x) for x in best)
        rows = [k for k in rows if k not in own]
        columns = [k for k in columns if k not in across]
        block = A[:, own]
        A[:, rows] -= A[:, rows][:, :, across] @ np.linalg.pinv(block[:, :, across]) @ block
    return found


def _pivot(
    A: FloatArray, some_rows: list[int], some_columns: list[int], size: int, least: float
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The best pivot of a size, if there are good ones."""
    rows, columns = (list(combinations(x, size)) for x in (some_rows, some_columns))
    if not rows or not columns:
        return None
    blocks = A[:, rows]
    volume = np.sqrt(np.abs(np.linalg.det(blocks @ np.swapaxes(blocks, -1, -2))))[:, :, None]
    part = np.empty((len(A), len(rows), len(columns)))
    for k, chosen in enumerate(columns):
        part[:, :, k] = np.abs(np.linalg.det(blocks[..., chosen]))
    part /= np.where(volume > 0.0, volume, 1.0)
    good = part.min(axis=0) >= least
    if not good.any():
        return None
    filled = np.abs(A[:, some_rows]).max(axis=0) > 1e-9
    across = np.array([filled[:, list(block)].any(axis=1).sum() for block in columns])
    along = np.array(
        [filled[[some_rows.index(k) for k in block]].any(axis=0).sum() for block in rows]
    )
    fill = np.outer(along - size, across - size)
    value = np.where(good & (fill == fill[good].min()), part.min(axis=0), 0.0)
    i, j = np.argwhere(value >= value.max() * (1.0 - 1e-6))[0].tolist()
    return rows[i], columns[j]
