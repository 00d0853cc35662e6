"""Margins of loops, by their frequency responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.tolerances import STILL_PART

#: Frequencies of a grid, and how far it goes beyond the slowest and the fastest pole.
GRID, BEYOND = 1200, 30.0

#: Places of further frequencies about a pole, in units of its damping ratio.
ABOUT = np.linspace(-4.0, 4.0, 17)

#: From which gain on a loop counts as infinite, as at a pole.
LARGE = 1e8


@dataclass(frozen=True)
class Margins:
    """How far a loop that is broken at one place is from instability.

    Attributes
    ----------
    gain : (float, float)
        Factors of the gain of the loop, below and above 1, between which it stays stable.
    phase : float [rad]
        The least phase that makes it unstable; infinite if none does.
    delay : float [s]
        The least delay that makes it unstable, beside what it has.
    crossover : float [rad/s]
        Frequency of that phase, where the gain of the loop is 1.
    sensitivity : float
        Largest ``|1 / (1 + L)|``, how much the loop enlarges disturbances: 2 is usual, and 1 over
        it the distance of the Nyquist curve from -1.
    """

    gain: tuple[float, float]
    phase: float
    delay: float
    crossover: float
    sensitivity: float


#: Of a loop that is not stable.
NONE = Margins((1.0, 1.0), 0.0, 0.0, np.nan, np.inf)


def response(A: Array, B: Array, C: Array, D: Array, points: Array) -> Array:
    """``C (s I - A)^-1 B + D`` at points of the plane, shape (points, p, m)."""
    left = points[:, None, None] * np.eye(len(A)) - A
    each = np.broadcast_to(B, (len(points), *B.shape))
    try:
        return np.asarray(C @ np.linalg.solve(left, each) + D)
    except np.linalg.LinAlgError:  # at a pole
        if len(points) > 1:
            return np.concatenate([response(A, B, C, D, x[None]) for x in points])
        return np.full((1, len(C), B.shape[1]), np.inf + 0.0j)


def frequencies(rates: Array, dt: float | None) -> FloatArray:
    """Frequencies [rad/s] at which models with these poles [1/s] change."""
    last = np.inf if dt is None else np.pi / dt
    rates = rates[np.isfinite(rates)]
    rates = rates[np.abs(rates) > STILL_PART * np.abs(rates).max(initial=0.0)]
    size = np.abs(rates)
    low = min(size.min(initial=1.0), last) / BEYOND
    grid = np.geomspace(low, min(size.max(initial=1.0) * BEYOND, last), GRID)
    damping = np.abs(rates.real) / size
    near = np.ravel(size[:, None] * (1.0 + damping[:, None] * ABOUT))
    return np.unique(np.concatenate([grid, near[(near > low) & (near < grid[-1])]]))


def margins_of(
    loop: Callable[[FloatArray], Array], w: FloatArray, last: float, direct: float
) -> Margins:
    """Margins of a stable loop.

    loop: Frequencies [rad/s], shape (k,) -> ``L``, shape (k,): ``1 + L`` is what the loop adds.
    w (k,) [rad/s]: Frequencies at which it is looked at.
    last [rad/s]: The largest frequency; infinite of continuous models.
    direct: ``L`` where it is infinite.
    """
    from scipy.optimize import brentq, minimize_scalar

    def at(x: float) -> complex:
        return complex(loop(np.array([x]))[0])

    L = loop(w)

    def crossings(f: Callable[[complex], float]) -> list[float]:
        values = np.array([f(x) for x in L])
        signs = np.sign(values)
        places = np.flatnonzero(signs[:-1] * signs[1:] < 0.0)
        return [float(brentq(lambda x: f(at(x)), w[k], w[k + 1], xtol=1e-300)) for k in places]

    ends = [at(0.0), at(last) if np.isfinite(last) else complex(direct)]
    ends = [x for x in ends if abs(x) < LARGE]
    real = [*(at(x) for x in crossings(lambda x: x.imag)), *ends]
    factors = np.array([-1.0 / x.real for x in real if x.real < 0.0 and abs(x) < LARGE])
    gain = factors[factors < 1.0].max(initial=0.0), factors[factors > 1.0].min(initial=np.inf)
    crossed = np.array(crossings(lambda x: abs(x) - 1.0))
    turned = np.angle(-np.array([at(x) for x in crossed])) if len(crossed) else np.zeros(0)
    phase, delay, crossover = np.inf, np.inf, np.nan
    if len(crossed):
        k = int(np.abs(turned).argmin())
        phase, crossover = float(np.abs(turned[k])), float(crossed[k])
        delay = float((np.mod(turned, 2.0 * np.pi) / crossed).min())
    k = int(np.abs(1.0 + L).argmin())
    around = w[max(k - 1, 0)], w[min(k + 1, len(w) - 1)]
    best = minimize_scalar(lambda x: abs(1.0 + at(x)), bounds=around, method="bounded")
    least = min(float(best.fun), *(abs(1.0 + x) for x in [L[k], *ends]))
    bounds = float(gain[0]), float(gain[1])
    return Margins(bounds, phase, delay, crossover, float(1.0 / least))
