"""Positions that close loops, by Levenberg-Marquardt steps in the tangent space, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, shaped, wrong_shape
from robodyn.closed_loops.solvers.scaling import row_lengths, speed_set
from robodyn.errors import AssemblyError, ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import ACTIVE_LIMIT, ASSEMBLY_STEP, LEVENBERG_RANK, LEVENBERG_STALLED

#: First damping, relative to the square of the residual.
DAMPING = 1e-3
#: Steps in a row that hardly make the residual smaller, after which an attempt ends.
SLOW = 5
#: Rows of the Jacobian that are longer by this factor than at most postures are not measured there.
STEEP = 1e6
#: How many postures around the guess show how large rows of the Jacobian get.
POSTURES = 4
#: Small motion [rad, m] that shows which coordinates a speed changes.
PROBE = 2.0**-10


@dataclass(frozen=True, eq=False)
class Problem:
    """Loops to close: functions of `assemble`, free speeds and limits.

    free: Speeds along which q may change.
    lower, upper (nq,)
    moves (nv, nq): Derivatives of limited coordinates along speeds.
    rows (nc,): Lever arms of the residuals: largest norms of the rows of the Jacobian at some
        postures.
    rank: Scaled singular values below this part of the largest take no part in a step.
    """

    residual: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    integrate: Callable[[Array, Array], Array]
    free: Array
    lower: Array
    upper: Array
    moves: Array
    rows: Array
    rank: float = LEVENBERG_RANK

    @staticmethod
    def of(
        residual: Callable[[Array], Array],
        jacobian: Callable[[Array], Array],
        integrate: Callable[[Array, Array], Array],
        q: Array,
        nv: int,
        free: Array,
        lower: ArrayLike | None,
        upper: ArrayLike | None,
        rank: float | None = None,
    ) -> Problem:
        """Fill in the limits and find the coordinates that each speed changes.

        Held coordinates have no limits here.
        """
        moves = np.zeros((nv, len(q)))
        for j in free:
            step = np.zeros(nv)
            step[j] = PROBE
            moves[j] = (integrate(q, step) - q) / PROBE
        moving = np.abs(moves).max(axis=0, initial=0.0) > 0.0
        low = np.where(moving, _limit("lower", lower, -np.inf, len(q)), -np.inf)
        high = np.where(moving, _limit("upper", upper, np.inf, len(q)), np.inf)
        moves = np.where(np.isfinite(low) | np.isfinite(high), moves, 0.0)
        norms = lever_arms(slopes_around(jacobian, integrate, q, nv))
        rows = row_lengths(norms) if rank is None else row_lengths(norms, 1.0)
        least = LEVENBERG_RANK if rank is None else rank
        return Problem(residual, jacobian, integrate, free, low, high, moves, rows, least)

    def project(self, q: Array) -> Array:
        """The nearest q within the limits."""
        return np.asarray(np.clip(q, self.lower, self.upper))

    def linearised(self, q: Array) -> tuple[Array, Array]:
        """Residual (nc,) and Jacobian (nc, nv), rows divided by their lever arms.

        Not numbers where loops that are solved in closed form do not close.
        """
        r = shaped("residual(q)", self.residual(q), len(self.rows))
        if not np.isfinite(r).all():
            return r, np.full((len(r), len(self.moves)), np.nan)
        K = shaped("jacobian(q)", self.jacobian(q), len(r), len(self.moves))
        return r / self.rows, K / self.rows[:, None]

    def blocked(self, q: Array, dv: Array) -> Array:
        """Mask (nv,) of the speeds that would push a coordinate out of its limits."""
        push = self.moves * dv[:, None]
        out = (q <= self.lower + ACTIVE_LIMIT) & (push < 0.0)
        out |= (q >= self.upper - ACTIVE_LIMIT) & (push > 0.0)
        return np.asarray(out.any(axis=1))


def _limit(name: str, given: ArrayLike | None, default: float, nq: int) -> Array:
    limit = np.full(nq, default) if given is None else np.asarray(given, dtype=float)
    if limit.shape != (nq,):
        raise wrong_shape(name, limit.shape, f"({nq},)", (nq,))
    return limit


def slopes_around(
    jacobian: Callable[[Array], Array],
    integrate: Callable[[Array, Array], Array],
    q: Array,
    nv: int,
) -> Array:
    """The Jacobian at q (..., nq) and at some postures around it, (n, ..., nc, nv)."""
    rng = np.random.default_rng(0)
    postures = [q, *(integrate(q, rng.normal(size=nv)) for _ in range(POSTURES))]
    return np.array([jacobian(x) for x in postures])


def lever_arms(K: Array) -> Array:
    """Largest norms (..., nc) of the rows of the Jacobian at some postures, (n, ..., nc, nv)."""
    found = np.sqrt(np.einsum("...ij,...ij->...i", K, K))
    known = np.isfinite(found).all(axis=-1, keepdims=True)
    nowhere = ~known.any(axis=0)
    found, known = np.where(nowhere, 1.0, found), known | nowhere
    found = np.where(known, found, np.nan)
    # slopes are no lever arms where two frames are just half a turn apart
    usual = np.median(found, axis=0) if known.all() else np.nanmedian(found, axis=0)
    usable = known & (found <= STEEP * np.where(usual > 0.0, usual, np.inf))
    return np.asarray(np.where(usable, found, 0.0).max(axis=0))


def minimise(problem: Problem, q: Array, tolerance: float, iterations: int) -> tuple[Array, float]:
    """Make the residual as small as it gets from a guess.

    The damping follows the square of the residual (Yamashita and Fukushima 2001), so that
    convergence is quadratic, with redundant constraints too. After the tolerance is met the
    iteration goes on as long as it halves the residual.

    Returns q (nq,)
    Returns size: Largest scaled residual there; infinite where the guess has none that is a number.
    """
    r, K = problem.linearised(q)
    if not np.isfinite(K).all():
        return q, np.inf
    damping, slow = DAMPING, 0
    for _ in range(iterations):
        size = float(np.linalg.norm(r))
        if size == 0.0 or slow >= SLOW:
            break
        trial_q = problem.project(problem.integrate(q, _step(problem, q, r, K, damping)))
        trial_r, trial_K = problem.linearised(trial_q)
        trial = float(np.linalg.norm(trial_r) if np.isfinite(trial_K).all() else np.inf)
        done = np.abs(r).max() <= tolerance
        if done and not trial < 0.5 * size:
            break
        if trial < size:
            slow = slow + 1 if trial > (1.0 - LEVENBERG_STALLED) * size else 0
            damping = max(0.1 * damping, 1e-12)
            q, r, K = trial_q, trial_r, trial_K
        elif damping > 1e12:
            break
        else:
            damping *= 10.0
    return q, float(np.abs(r).max(initial=0.0))


def _step(problem: Problem, q: Array, r: Array, K: Array, damping: float) -> Array:
    """Damped step of least norm (nv,); speeds that push against a limit are taken out."""
    active = np.zeros(K.shape[1], bool)
    active[problem.free] = True
    dv = np.zeros(K.shape[1])
    while active.any() and len(r):
        U, values, Vt = np.linalg.svd(K[:, active], full_matrices=False)
        use = values > problem.rank * values.max()
        factor = np.where(use, values / (values**2 + damping * (r @ r) + ~use), 0.0)
        dv = np.zeros(K.shape[1])
        dv[active] = -Vt.T @ (factor * (U.T @ r))
        blocked = active & problem.blocked(q, dv)
        if not blocked.any():
            return dv
        active &= ~blocked
        dv = np.zeros(K.shape[1])
    return dv


@np.errstate(invalid="ignore", divide="ignore")  # some postures are none
def assemble(
    residual: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    integrate: Callable[[Array, Array], Array],
    q: ArrayLike,
    *,
    free: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tolerance: float = ASSEMBLY_STEP,
    closed: float = 0.0,
    guesses: int = 30,
    others: Iterable[Array] = (),
    spread: ArrayLike = 1.0,
    seed: int = 0,
    iterations: int = 100,
    rank: float | None = None,
    tell: Callable[[str], None] = lambda doing: None,
) -> Array:
    """Close the loops: find q with ``residual(q) = 0`` near a guess [Wittenburg 1977, (5.183)].

    Levenberg-Marquardt steps of least norm in the tangent space, from the guess itself and, if
    that does not get there, from guesses around it, at growing distance, and at last from others.

    residual: q (nq,) -> (nc,) [m, rad].
    jacobian: q (nq,) -> (nc, nv), derivative of the residual along v.
    integrate: q (nq,), dv (nv,) -> q (nq,): moves q along the tangent dv.
    q (nq,): Guess.
    free, optional: Indices of speeds along which q may change, or a mask (nv,); default all.
    lower, upper (nq,), optional: Position limits; infinite where there are none.
    tolerance: Largest residual, each relative to its lever arm: the norm of its row of the
        Jacobian.
    closed: Where an attempt comes no nearer, a largest residual below this will do [m, rad]: that
        of redundant rows, which rounded dimensions keep from zero.
    guesses: How many guesses around the given one to try.
    others (nq,): Guesses to try after those.
    spread (nv,): Size of the largest changes of the guess, over pi [rad, m].
    seed: Of the changes.
    iterations: Of one attempt.
    rank, optional: Singular values of the Jacobian, whose rows have length one, and rows below this
        part of the largest one count as zero. Default: those that are rounding.
    tell: Called before each attempt with what it is.
    Returns (nq,)
    Raises AssemblyError: If the loops do not close. ``.q`` is the posture where they come nearest
        and ``.residual`` (nc,) [m, rad] what is left there: not numbers if they are none at all
        postures that were tried.
    """
    start = checked("q", q, None)
    if start.ndim != 1:
        raise ShapeError("assemble takes one posture at a time", name="q", given=start.shape)
    K = shaped("jacobian(q)", jacobian(start), None, None)
    nv = K.shape[-1]
    changes = np.arange(nv) if free is None else speed_set("free", free, nv)
    problem = Problem.of(residual, jacobian, integrate, start, nv, changes, lower, upper, rank)

    nearest, best = start, np.inf
    around = _guesses(problem, start, np.broadcast_to(spread, nv), guesses, seed)
    for number, guess in enumerate(chain(around, map(problem.project, others)), 1):
        tell(f"attempt {number}")
        found, size = minimise(problem, guess, tolerance, iterations)
        if size <= tolerance or np.abs(residual(found)).max() < closed:
            return found
        if size < best:
            nearest, best = found, size
    left = shaped("residual(q)", residual(nearest), None)
    held = "" if len(changes) == nv else f" with {nv - len(changes)} speeds held"
    raise AssemblyError(
        f"the loops do not close{held}: constraint {int(np.abs(left).argmax())} is missed by "
        f"{np.abs(left).max():.3g} at best, from the given posture and {number - 1} others; "
        "give a posture nearer to a closed one, or check lengths and axes",
        residual=left,
        q=nearest,
    )


def _guesses(problem: Problem, q: Array, spread: Array, count: int, seed: int) -> Iterator[Array]:
    """The guess, moved within the limits, then random ones around it at growing distance.

    Coordinates with limits on both sides are drawn between them, so that those of a guess outside
    do not gather at a limit.
    """
    q = problem.project(q)
    yield q
    rng = np.random.default_rng(seed)
    reach = np.pi * np.abs(problem.moves).T @ spread
    low, high = np.maximum(problem.lower, q - reach), np.minimum(problem.upper, q + reach)
    bounded = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    for j in range(count):
        part = 2.0 ** (-6.0 * (1.0 - (j + 1) / count))
        dv = np.zeros(len(spread))
        dv[problem.free] = (np.pi * part * spread * rng.uniform(-1, 1, len(spread)))[problem.free]
        within = q + part * (low + (high - low) * rng.uniform(0, 1, len(q)) - q)
        yield problem.project(np.where(bounded, within, problem.integrate(q, dv)))
