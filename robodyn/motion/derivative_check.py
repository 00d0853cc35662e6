"""Check that the velocities and accelerations of a path are the derivatives of its positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import PathError
from robodyn.tolerances import PATH_RATE_ERROR

__all__ = ["INTERVAL", "check_rate", "instants"]


#: Interval [s] over which a rate is integrated.
INTERVAL = 1e-3


def instants(times: Array, at_most: int) -> tuple[Array, float]:
    """Times at which a path is checked, and the length of the interval that follows each [s].

    No interval extends beyond the last time.
    """
    interval = min(INTERVAL, float(times[-1] - times[0])) or INTERVAL
    some = np.linspace(0, len(times) - 1, min(at_most, len(times))).astype(int)
    return np.minimum(times[some], max(times[-1] - interval, times[0])), interval


def check_rate(
    change: Callable[[float, float], Array],
    rate: Callable[[float], Array],
    times: Iterable[float],
    what: str,
    interval: float = INTERVAL,
) -> None:
    """Compare the change of a quantity over short intervals with the integral of its rate.

    Where the rate has a jump or a kink, the tolerance is the size of its change.

    Parameters
    ----------
    change : callable
        ``(t0, t1) -> `` how much it changes.
    rate : callable
        Its rate at a time.
    times : iterable of float [s]
    what : str
        For the message: ``"velocity of joint 'elbow'"``.
    interval : float [s]

    Raises
    ------
    PathError
        With the first time at which they differ.
    """
    h = interval
    rows = []
    for t in times:
        first, middle, last = (np.asarray(rate(t + part * h)) for part in (0.0, 0.5, 1.0))
        mean = (first + 4.0 * middle + last) / 6.0
        slope = np.asarray(change(t, t + h)) / h
        kink = np.abs(last - first) + np.abs(middle - first)
        rows.append((t, mean, slope, kink))
    scale = max((float(np.max(np.abs(slope), initial=0.0)) for _, _, slope, _ in rows), default=0.0)
    for t, mean, slope, kink in rows:
        wrong = ~(np.abs(slope - mean) <= PATH_RATE_ERROR * max(scale, 1e-3) + kink)
        if np.any(wrong):
            raise PathError(
                f"the {what} at t = {t:.6g} s is {_shown(mean)}, but its values there change at a "
                f"rate of {_shown(slope)}",
                time=float(t),
            )


def _shown(x: Array) -> str:
    return np.array2string(np.asarray(x), precision=6)
