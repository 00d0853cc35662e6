"""Checks that velocities and accelerations of paths are the rates that positions have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.errors import PathError
from robodyn.motion.functions import Reference
from robodyn.tolerances import PATH_RATE_ERROR

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
    times: Sequence[float], rows: Mapping[str, tuple[Array, Array]], interval: float = INTERVAL
) -> None:
    """Compare changes of quantities over short intervals with the integrals of their rates.

    Where a rate has a jump or a kink, the tolerance is the size of its change.

    Raises `PathError` with the first time at which they differ.

    times [s]: Where n intervals start.
    rows (n, k), (n, 3, k): For each quantity, called as the message does (``"velocity of joint
        'elbow'"``): how much it changes over each interval, and its rates at the start, the middle
        and the end.
    interval [s]
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


def sampled(reference: Reference, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A reference at some instants [s]: arrays with one row an instant."""
    q, v, a = zip(*map(reference, times.tolist()), strict=True)
    return np.array(q, float), np.array(v, float), np.array(a, float)


def check_continuous(
    reference: Reference,
    times: FloatArray,
    difference: Callable[[FloatArray, FloatArray], FloatArray],
    speeds: Sequence[int],
    names: Sequence[str],
) -> None:
    """Refuse a reference whose position or velocity jumps.

    From each instant to the next both have to change by the integral of their rates (Simpson's
    rule). Where a rate itself jumps, as much is allowed as that may make.

    Times, shape (n,) [s], ascend. ``difference`` maps positions and others, shape (n, nq), to the
    speeds that lead from one to the other in unit time, shape (n, k), which stand at ``speeds`` in
    v. The `PathError` has the time and the joint of the first jump.
    """
    if len(times) < 2:
        return
    q, v, a = sampled(reference, times)
    _, vm, am = sampled(reference, times[:-1] + 0.5 * np.diff(times))
    columns = list(speeds)
    v, a, vm, am = (x[:, columns] for x in (v, a, vm, am))
    _check("position", times, difference(q[:-1], q[1:]), v, vm, names)
    _check("velocity", times, np.diff(v, axis=0), a, am, names)


def _check(
    what: str,
    times: FloatArray,
    change: FloatArray,
    rate: FloatArray,
    halfway: FloatArray,
    names: Sequence[str],
) -> None:
    h = np.diff(times)[:, None]
    accounted = h * (rate[:-1] + 4.0 * halfway + rate[1:]) / 6.0
    endless = np.argwhere(~np.isfinite(change + accounted))
    if len(endless):
        row, k = endless[0]
        raise PathError(
            f"the {what} of joint {names[k]!r} in the reference, or its rate, is no finite number "
            f"between t = {times[row]:.6g} s and {times[row + 1]:.6g} s",
            time=float(times[row]),
            joint=names[k],
        )
    kink = h * (np.abs(rate[1:] - rate[:-1]) + np.abs(halfway - rate[:-1]))
    slack = PATH_RATE_ERROR * max(float(np.abs(change).max(initial=0.0)), 1e-3 * float(h.max()))
    wrong = np.argwhere(~(np.abs(change - accounted) <= slack + kink))
    if not len(wrong):
        return
    row, k = wrong[0]
    unit = "rad or m" + ("/s" if what == "velocity" else "")
    cause = "" if len(wrong) < len(times) // 2 else ", and so nearly everywhere: it is another rate"
    raise PathError(
        f"the {what} of joint {names[k]!r} in the reference changes by {change[row, k]:.4g} {unit} "
        f"from t = {times[row]:.6g} s to {times[row + 1]:.6g} s, where its rate accounts for "
        f"{accounted[row, k]:.4g}{cause}",
        time=float(times[row]),
        joint=names[k],
    )
