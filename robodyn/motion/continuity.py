"""Check that a reference is continuous in position and velocity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import PathError
from robodyn.motion.reference import Reference
from robodyn.tolerances import PATH_RATE_ERROR

__all__ = ["check_continuous", "sampled"]


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

    Parameters
    ----------
    reference : callable
    times : ndarray, shape (n,) [s]
        Ascending.
    difference : callable
        ``(positions, others)``, shapes (n, nq), to the speeds that lead from one to the other in
        unit time, shape (n, k).
    speeds : sequence of int, length k
        Where these stand in v.
    names : sequence of str, length k

    Raises
    ------
    PathError
        With ``.time`` and ``.joint`` of the first jump.
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
