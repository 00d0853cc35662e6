"""A regular posture beside a closed one that is singular, as flat linkages are at zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.constraint_rows import PositionRows
from robodyn.closed_loops.solvers import null_space, rank_analysis
from robodyn.errors import AssemblyError
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import GROWN_SINGULAR_VALUE

#: Largest motion [rad, m] of a joint to a posture beside another one, and how many are looked at.
ASIDE, POSTURES = 0.3, 6

#: A small motion [rad, m]; singular values that grow with it exceed `GROWN_SINGULAR_VALUE` then.
SMALL = 1e-4


def regular_beside(
    q: Array, rows: PositionRows, space: ConfigurationSpace, closed: Callable[[Array], Array]
) -> tuple[Array, int]:
    """A closed posture where loops have their usual rank, and how much more that is than at ``q``.

    q (nq,): Closed.
    closed: Makes a closed posture near another one, or raises `AssemblyError`.
    Returns q (nq,): The same where it is regular; else the nearest of some around it.
    Returns gained: Zero where it is regular.
    """
    rng = np.random.default_rng(0)
    here = _rank(rows, q)
    if not _singular(q, rows, space, np.random.default_rng(1)):
        return q, 0
    # what no loop moves stays where it is
    beside = space.move(q, rng.uniform(-SMALL, SMALL, (2, space.nv)))
    looped = (rows.jacobian(beside) != 0.0).any(axis=(0, 1))
    aside = np.zeros((POSTURES, space.nv))
    aside[:, looped] = np.random.default_rng(0).uniform(-ASIDE, ASIDE, (POSTURES, looped.sum()))
    around = space.move(q, aside)
    found = [(here, 0.0, q)]
    for guess in around:
        try:
            near = closed(guess)
        except AssemblyError:
            continue
        away = float(np.linalg.norm(space.difference(q, near)))
        found.append((_rank(rows, near), -away, near))
    rank, _, best = max(found, key=lambda x: x[:2])
    return best, rank - here


def _singular(
    q: Array, rows: PositionRows, space: ConfigurationSpace, rng: np.random.Generator
) -> bool:
    """Whether the rank rises with the first small motions that it allows.

    Loops open with the square of such a motion. So do redundant rows of regular postures become
    independent; those of singular ones do with the motion itself.
    """
    K = _slopes(rows, q)
    if not np.isfinite(K).all():
        return True
    free = null_space(K)
    moved = space.move(q, SMALL * rng.uniform(-1.0, 1.0, (2, free.shape[1])) @ free.T)
    near = rank_analysis(rows.jacobian(moved), tolerance=GROWN_SINGULAR_VALUE)
    return bool(near.rank.max(initial=0) > rank_analysis(K, tolerance=GROWN_SINGULAR_VALUE).rank)


def _rank(rows: PositionRows, q: Array) -> int:
    """Zero where some row has no slopes: what it touches the plane with is no one point there."""
    K = _slopes(rows, q)
    return int(rank_analysis(K).rank) if np.isfinite(K).all() else 0


def _slopes(rows: PositionRows, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return rows.jacobian(q)
