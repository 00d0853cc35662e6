"""Positions that close loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, shaped
from robodyn.closed_loops.solvers.levenberg import Problem, minimise
from robodyn.closed_loops.solvers.scaling import speed_set
from robodyn.errors import AssemblyError, ShapeError
from robodyn.tolerances import ASSEMBLY_STEP


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
