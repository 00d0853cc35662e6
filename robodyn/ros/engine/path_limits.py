"""Whether polynomials between the points of a trajectory leave limits, exactly.

A polynomial of degree k over a piece lies within the range of its k + 1 Bernstein coefficients, of
which the first and the last are its values at the ends. Pieces whose coefficients are beyond a
limit are halved until an end is beyond it, or no coefficient is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.engine.messages import StateNames
from robodyn.tolerances import FARTHEST, LIMIT_EXCESS, TRAJECTORY_SPEED_EXCESS

#: Largest number of halvings: the parts are as short as rounding of time then.
HALVINGS = 50
#: Instants of a piece among which the worst is named.
SHOWN = 1025


def check_path(names: StateNames, joints: Sequence[str], polynomial: Any) -> None:
    """Refuse a path that leaves limits of position or speed anywhere.

    A joint that is beyond its limit at the start may come back.

    polynomial: Of positions, shape (n,).
    """
    rate = polynomial.derivative(1)
    if not (np.isfinite(polynomial.c).all() and np.isfinite(rate.c).all()):
        raise rd.PathError("its numbers are too large for a path between its points")
    lower, upper, top = np.array([names.limits(name) for name in joints]).T
    rounding = LIMIT_EXCESS * np.maximum(1.0, np.abs([lower, upper]))
    whose = partial(_limit_of, names)
    hint = "; velocities of zero at its points keep a path between them"
    edges = lower - rounding[0], upper + rounding[1]
    _check(joints, "positions", polynomial, *edges, whose, hint)
    allowed = np.minimum(top, FARTHEST) * (1.0 + TRAJECTORY_SPEED_EXCESS)
    _check(joints, "speeds", rate, -allowed, allowed, whose, "; give it more time")


def _limit_of(names: StateNames, joint: str) -> str:
    """Whose limit that of a joint is."""
    others = names.followers(joint)
    return "its limit" + (f", or that of {', '.join(others)}, which follow it" if others else "")


def _check(
    joints: Sequence[str],
    what: str,
    f: Any,
    lower: FloatArray,
    upper: FloatArray,
    limits_of: Callable[[str], str],
    hint: str,
) -> None:
    """Refuse a polynomial that leaves limits, shape (n,), but for where it starts."""
    for side, bound in ((1.0, upper), (-1.0, lower)):
        edges = np.tile(side * bound, (f.c.shape[1], 1))
        edges[0] = np.maximum(edges[0], side * f.c[-1][0])
        found = _first_beyond(side * _bernstein(f), edges)
        if found is None:
            continue
        piece, k = found
        times = np.linspace(f.x[piece], f.x[piece + 1], SHOWN)
        values = f(times)[:, k]
        worst = int((side * values).argmax())
        raise rd.PathError(
            f"the {what} of {joints[k]!r} would reach {values[worst]:.4g} at {times[worst]:.4g} s, "
            f"beyond {bound[k]:.4g}, {limits_of(joints[k])}{hint if 0 < worst < SHOWN - 1 else ''}",
            time=float(times[worst]),
            joint=joints[k],
        )


def _bernstein(f: Any) -> FloatArray:
    """Bernstein coefficients of all pieces, shape (degree + 1, pieces, n)."""
    degree, h = len(f.c) - 1, np.diff(f.x)[:, None]
    scaled = [f.c[degree - j] * h**j / comb(degree, j) for j in range(degree + 1)]
    return np.stack([sum(comb(i, j) * scaled[j] for j in range(i + 1)) for i in range(degree + 1)])


def _first_beyond(b: FloatArray, edges: FloatArray) -> tuple[int, int] | None:
    """Piece and column of a polynomial that exceeds its edge, shape (pieces, n), if one does."""
    rows, columns = np.nonzero(b.max(axis=0) > edges)
    b, edges = b[:, rows, columns], edges[rows, columns]
    for _ in range(HALVINGS):
        if not rows.size:
            return None
        beyond = np.maximum(b[0], b[-1]) > edges
        if beyond.any():
            k = int(np.flatnonzero(beyond)[rows[beyond].argmin()])
            return int(rows[k]), int(columns[k])
        b = np.concatenate(_halves(b), axis=1)
        keep = b.max(axis=0) > np.tile(edges, 2)
        b = b[:, keep]
        rows, columns, edges = (np.tile(x, 2)[keep] for x in (rows, columns, edges))
    return None


def _halves(b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the first and of the second halves of pieces."""
    left, right = [b[0]], [b[-1]]
    while len(b) > 1:
        b = 0.5 * (b[:-1] + b[1:])
        left.append(b[0])
        right.append(b[-1])
    return np.stack(left), np.stack(right[::-1])
