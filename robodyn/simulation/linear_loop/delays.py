"""Linear models of held forces that act late: exact within a period, or by Padé approximation."""

from __future__ import annotations

import math

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.state_space.exponential import exponential
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

#: Order of Padé approximations of delays.
ORDER = 5


def whole_periods(delay: float, dt: float) -> tuple[int, float]:
    """A delay as whole periods and the rest of one [s]; what differs by rounding is a whole one."""
    whole = math.floor(delay / dt + SAMPLE_TIME_ROUNDING)
    rest = delay - whole * dt
    return whole, rest if rest > SAMPLE_TIME_ROUNDING * dt else 0.0


def held(
    A: FloatArray, B: FloatArray, dt: float, rest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A period in which one input acts for ``rest`` [s], and then another one to its end.

    Returns Phi (n, n): Of the state at its start.
    Returns early, late (n, m): Of the first input, and of the other one.
    """
    first, before = _over(A, B, rest)
    second, late = _over(A, B, dt - rest)
    return second @ first, second @ before, late


def _over(A: FloatArray, B: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
    """The state after a time, by that before and an input that is held."""
    n, m = B.shape
    if not time:
        return np.eye(n), np.zeros((n, m))
    whole = exponential(time * np.block([[A, B], [np.zeros((m, n + m))]]))
    return whole[:n, :n], whole[:n, n:]


def pade(delay: float) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """``exp(-s delay)`` approximated: ``dx/dt = A x + B u``, ``y = C x + D u``.

    Returns A (k, k)
    Returns B, C (k,): Empty without a delay.
    Returns D
    """
    if not delay:
        return np.zeros((0, 0)), np.zeros(0), np.zeros(0), 1.0
    n = ORDER
    a = np.array([math.comb(n, k) / math.perm(2 * n, k) for k in range(n + 1)])
    den, num = a / a[n], a * (-1.0) ** np.arange(n + 1) / a[n]
    A = np.eye(n, k=1)
    A[-1] = -den[:n]
    B, direct = np.zeros(n), float(num[n])
    B[-1] = 1.0
    return A / delay, B / delay, num[:n] - direct * den[:n], direct
