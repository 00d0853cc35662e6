"""Zero-phase filtering of noisy, evenly sampled positions to states."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import number
from robodyn.errors import SettingsError
from robodyn.identification.data.independent_motion import expanded, refuse_several
from robodyn.motion.samples import sample_times, samples
from robodyn.robot import Robot
from robodyn.tolerances import EVEN_RECORD

ORDER = 4
#: Number of samples by which the data are extended at either end before filtering.
PADDING = 200


def filtered_states(
    robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, cutoff: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """``t, q, v, a, tau``; see `Measurements.filtered`."""
    times = sample_times(t, 4)
    positions = samples("q", q, len(times), robot.nq)
    forces = samples("tau", tau, len(times), robot.nv)
    for name in robot.reduced().independent_joints:
        refuse_several(robot, name)
    step = _step(times, cutoff)
    keep = _within(len(times), step, cutoff)
    smooth = _smooth(positions, step, cutoff)
    x, dx, ddx = (part[keep] for part in (smooth, *_rates(smooth, step)))
    if robot.nc:
        x, dx, ddx = _closed(robot, x, dx, ddx)
    return times[keep], x, dx, ddx, forces[keep]


def thinned(t: FloatArray, cutoff: float, *arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Filter arrays of samples, and keep about two samples per period of the cutoff.

    t (n,) [s]
    cutoff [Hz]
    *arrays (n, ...)
    """
    step = _step(t, cutoff)
    keep = _within(len(t), step, cutoff)
    some = slice(keep.start, keep.stop, max(1, int(0.5 / (cutoff * step))))
    return t[some], *(_smooth(x, step, cutoff)[some] for x in arrays)


def _step(times: FloatArray, cutoff: float) -> float:
    """Time step of evenly spaced samples."""
    step = float(np.diff(times).mean()) if len(times) > 1 else 0.0
    if not step > 0.0 or np.abs(np.diff(times) - step).max() > EVEN_RECORD * step:
        raise SettingsError("times are not evenly spaced: a filter needs samples at an even rate")
    if not 0.0 < number("cutoff", cutoff, "Hz") < 0.25 / step:
        raise SettingsError(
            f"cutoff is {cutoff:g} Hz, expected less than a quarter of the {1.0 / step:.6g} "
            "samples a second"
        )
    return step


def _smooth(x: FloatArray, step: float, cutoff: float) -> FloatArray:
    from scipy.signal import butter, sosfiltfilt

    sections = butter(ORDER, 2.0 * step * cutoff, output="sos")
    return np.asarray(sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, PADDING)))


def _rates(x: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Rates by central differences of fourth order; zero for the two samples at either end."""
    v, a = np.zeros_like(x), np.zeros_like(x)
    m2, m1, at, p1, p2 = x[:-4], x[1:-3], x[2:-2], x[3:-1], x[4:]
    v[2:-2] = (m2 - 8.0 * m1 + 8.0 * p1 - p2) / (12.0 * step)
    a[2:-2] = (-m2 + 16.0 * m1 - 30.0 * at + 16.0 * p1 - p2) / (12.0 * step**2)
    return v, a


def _within(count: int, step: float, cutoff: float) -> slice:
    """Samples at which the effects of the ends have died out."""
    edge = max(2, round(1.0 / (cutoff * step)))
    if count < 3 * edge:
        raise SettingsError(
            f"{count} samples are too few for a cutoff of {cutoff:g} Hz: {2 * edge} of them are "
            "left out at the ends"
        )
    return slice(edge, count - edge)


def _closed(
    robot: Robot, x: FloatArray, dx: FloatArray, ddx: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """States with closed loops, from the motion of the independent joints."""
    reduced = robot.reduced()
    joints = [robot.joints[name] for name in reduced.independent_joints]
    at, own = [joint.q.start for joint in joints], [joint.v.start for joint in joints]
    near = robot.assemble(x[0], beyond_limits=True)
    u = (x - robot.neutral())[:, at]
    return expanded(reduced, u, dx[:, own], ddx[:, own], near)
