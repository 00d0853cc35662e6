"""Positions that close loops, of many guesses at once: the first attempt of `assemble` for each.

The iteration is that of `levenberg.minimise`, with arrays of all guesses that are still on their
way, so that each is closed as it is by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.solvers.assemble import DAMPING, SLOW, Problem, lever_arms, slopes_around
from robodyn.closed_loops.solvers.scaling import row_lengths
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import (
    ACTIVE_LIMIT,
    ASSEMBLY_STEP,
    LEVENBERG_STALLED,
    NORMAL_EQUATIONS,
    SLOPE_ROUNDING,
)

#: Slopes of how many numbers are looked at together, at most.
MOST_SLOPES = 1_000_000


@dataclass(frozen=True, eq=False)
class _Loops:
    """The loops to close, with the rows and the free speeds of K where it is not always zero."""

    problem: Problem
    rows: Array
    columns: Array

    def linearised(self, q: Array, arms: Array) -> tuple[Array, Array]:
        """Scaled residual (n, nc), and its slopes where they count; as `Problem.linearised`."""
        r = self.problem.residual(q) / arms
        K = self.problem.jacobian(q)[:, self.rows[:, None], self.columns]
        K = K / arms[:, self.rows, None]
        K[~np.isfinite(r).all(axis=1)] = np.nan
        return r, K


@dataclass(frozen=True, eq=False)
class _Way:
    """Guesses on their way to closed positions; the first axis of all arrays is theirs.

    number: Of each guess among all.
    lower, upper, arms: Limits and lever arms.
    r, K: As of `_Loops.linearised` at q.
    """

    number: Array
    q: Array
    lower: Array
    upper: Array
    arms: Array
    r: Array
    K: Array
    damping: Array
    slow: Array

    def of(self, some: Array) -> _Way:
        """Some of them."""
        return self if some.all() else _Way(*(x[some] for x in vars(self).values()))


def assemble_each(
    residual: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    integrate: Callable[[Array, Array], Array],
    q: Array,
    free: Array,
    lower: Array,
    upper: Array,
    closed: float,
    iterations: int = 100,
) -> tuple[Array, Array]:
    """Close the loops near each of many guesses, as `assemble` does without other guesses.

    residual, jacobian, integrate: As of `assemble`, of many postures at once.
    q, lower, upper (n, nq): Guesses, and position limits.
    free (nv,): Mask of the speeds along which q may change.

    Returns q (n, nq): Where the attempt ended.
    Returns done (n,): Whether it is closed there.
    """
    found, done = q.copy(), np.zeros(len(q), bool)
    together = max(1, MOST_SLOPES // max(1, residual(q[0]).size * len(free)))
    with np.errstate(all="ignore"):  # some postures are none
        for start in range(0, len(q), together):
            part = slice(start, start + together)
            low, high = lower[part], upper[part]
            problem = Problem.of(
                residual, jacobian, integrate, q[start], len(free), np.flatnonzero(free),
                low[0], high[0],
            )  # fmt: skip
            limited = np.isfinite(problem.lower) | np.isfinite(problem.upper)
            low, high = np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
            found[part], size = _minimise(problem, q[part], low, high, iterations)
            gap = np.abs(residual(found[part])).max(axis=1, initial=0.0)
            done[part] = (size <= ASSEMBLY_STEP) | (gap < closed)
    return found, done


def _minimise(
    problem: Problem, q: Array, lower: Array, upper: Array, iterations: int
) -> tuple[Array, Array]:
    """`levenberg.minimise` of many guesses: where they get (n, nq), and their residuals (n,)."""
    K = slopes_around(problem.jacobian, problem.integrate, q, len(problem.moves))
    arms = row_lengths(lever_arms(K))
    counted = np.asarray((np.abs(K) > SLOPE_ROUNDING * arms[..., None]).any(axis=(0, 1)))
    columns = problem.free[counted[:, problem.free].any(axis=0)]
    loops = _Loops(problem, np.flatnonzero(counted.any(axis=1)), columns)
    found, size = np.clip(q, lower, upper), np.full(len(q), np.inf)
    r, K = loops.linearised(found, arms)
    first = np.full(len(q), DAMPING), np.zeros(len(q), int)
    way = _Way(np.arange(len(q)), found, lower, upper, arms, r, K, *first).of(_known(K))
    for _ in range(iterations):
        there, ends = _after(loops, way, _steps(loops, way))
        ended = way.number[ends]
        found[ended], size[ended] = way.q[ends], np.abs(way.r[ends]).max(axis=1, initial=0.0)
        way = there.of(~ends)
        if not len(way.q):
            return found, size
    found[way.number], size[way.number] = way.q, np.abs(way.r).max(axis=1, initial=0.0)
    return found, size


def _known(K: Array) -> Array:
    return np.asarray(np.isfinite(K).all(axis=(1, 2)))


def _norm(r: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ni,ni->n", r, r)))


def _after(loops: _Loops, way: _Way, step: Array) -> tuple[_Way, Array]:
    """The guesses after a step, where that is an improvement, and which have ended before it."""
    size = _norm(way.r)
    q = np.clip(loops.problem.integrate(way.q, step), way.lower, way.upper)
    r, K = loops.linearised(q, way.arms)
    trial = np.where(_known(K), _norm(r), np.inf)
    done = np.abs(way.r).max(axis=1, initial=0.0) <= ASSEMBLY_STEP
    better = trial < size
    ends = (size == 0.0) | (way.slow >= SLOW) | (done & ~(trial < 0.5 * size))
    ends |= ~better & (way.damping > 1e12)
    stalled = better & (trial > (1.0 - LEVENBERG_STALLED) * size)
    slow = np.where(better, np.where(stalled, way.slow + 1, 0), way.slow)
    damping = np.where(better, np.maximum(0.1 * way.damping, 1e-12), 10.0 * way.damping)
    q, r = (np.where(better[:, None], *x) for x in ((q, way.q), (r, way.r)))
    K = np.where(better[:, None, None], K, way.K)
    return replace(way, q=q, r=r, K=K, damping=damping, slow=slow), ends


def _steps(loops: _Loops, way: _Way) -> Array:
    """Damped steps of least norm (n, nv); speeds that push against a limit are taken out."""
    problem = loops.problem
    shift = way.damping * np.einsum("ni,ni->n", way.r, way.r)
    r, dv = way.r[:, loops.rows], np.zeros((len(way.q), len(problem.moves)))
    dv[:, loops.columns] = _least(r, way.K, shift, problem.rank)
    at_low, at_high = way.q <= way.lower + ACTIVE_LIMIT, way.q >= way.upper - ACTIVE_LIMIT
    at = np.flatnonzero((at_low | at_high).any(axis=1))
    active = np.ones((len(at), len(loops.columns)), bool)
    while len(at):
        push = problem.moves[loops.columns] * dv[at][:, loops.columns, None]
        out = (at_low[at, None] & (push < 0.0)) | (at_high[at, None] & (push > 0.0))
        blocked = active & out.any(axis=2)
        more = blocked.any(axis=1)
        at, active = at[more], (active & ~blocked)[more]
        K = way.K[at] * active[:, None]
        dv[at[:, None], loops.columns] = _least(r[at], K, shift[at], problem.rank)
    return dv


def _least(r: Array, K: Array, shift: Array, rank: float) -> Array:
    """Damped steps of least norm, of rows r (n, nr) and K (n, nr, columns)."""
    n, rows, columns = K.shape
    if not min(n, rows, columns):
        return np.zeros((n, columns))
    KT = np.swapaxes(K, 1, 2)
    square = K @ KT
    size = np.trace(square, axis1=1, axis2=2)
    try:
        inverse = np.linalg.inv(square + shift[:, None, None] * np.eye(rows))
    except np.linalg.LinAlgError:  # of rows that depend on one another in some postures
        inverse = np.full(square.shape, np.inf)
    least = 1.0 / np.sqrt(np.einsum("nij,nij->n", inverse, inverse)) - shift
    dv = -(KT @ (inverse @ r[..., None]))[..., 0]
    if (near := np.flatnonzero(~(least > NORMAL_EQUATIONS * size))).size:
        U, values, Vt = np.linalg.svd(K[near], full_matrices=False)
        use = values > rank * values.max(axis=1, keepdims=True)
        factor = np.where(use, values / (values**2 + shift[near, None] + ~use), 0.0)
        inside = factor * np.einsum("nik,ni->nk", U, r[near])
        dv[near] = -np.einsum("nki,nk->ni", Vt, inside)
    return np.asarray(dv)
