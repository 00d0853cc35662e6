"""Check that the velocities and accelerations of a path are the derivatives of its positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import PathError
from robodyn.tolerances import PATH_RATE_ERROR

__all__ = ["INTERVAL", "check_rates", "instants", "three_instants"]


#: Interval [s] over which a rate is integrated.
INTERVAL = 1e-3


def instants(times: Array, at_most: int) -> tuple[Array, float]:
    """Times at which a path is checked, and the length of the interval that follows each [s].

    No interval extends beyond the last time.
    """
    interval = min(INTERVAL, float(times[-1] - times[0])) or INTERVAL
    some = np.linspace(0, len(times) - 1, min(at_most, len(times))).astype(int)
    return np.minimum(times[some], max(times[-1] - interval, times[0])), interval


def check_rates(
    times: Sequence[float],
    rows: Mapping[str, tuple[Array, Array]],
    interval: float = INTERVAL,
) -> None:
    """Compare changes of quantities over short intervals with the integrals of their rates.

    Where a rate has a jump or a kink, the tolerance is the size of its change.

    Parameters
    ----------
    times : sequence of float [s]
        Where n intervals start.
    rows : mapping of str to (ndarray, ndarray), shape (n, k), (n, 3, k)
        For each quantity, called as the message does (``"velocity of joint 'elbow'"``): how much it
        changes over each interval, and its rates at the start, the middle and the end.
    interval : float [s]

    Raises
    ------
    PathError
        With the first time at which they differ.
    """
    for what, (changes, rates) in rows.items():
        first, middle, last = (rates[:, k] for k in range(3))
        mean, slopes = (first + 4.0 * middle + last) / 6.0, changes / interval
        kinks = np.abs(last - first) + np.abs(middle - first)
        scale = float(np.max(np.abs(slopes), initial=0.0))
        wrong = ~(np.abs(slopes - mean) <= PATH_RATE_ERROR * max(scale, 1e-3) + kinks)
        if wrong.any():
            k = int(np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))[0])
            integral = "positions" if what.startswith("velocity") else "velocities"
            raise PathError(
                f"the {what} at t = {times[k]:.6g} s is {_shown(mean[k])}, but the {integral} "
                f"there change at a rate of {_shown(slopes[k])}",
                time=float(times[k]),
            )


def three_instants(
    path: Callable[[float], Any], times: Sequence[float], interval: float
) -> list[Any]:
    """What a path gives at the start, the middle and the end of the interval after each time."""
    h = interval
    return [path(at) for t in times for at in (t, t + 0.5 * h, t + h)]


def _shown(x: Array) -> str:
    return np.array2string(x if x.size != 1 else x.reshape(()), precision=6)
