"""A motion at other instants than those at which it was sampled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import finite, number, numbers
from robodyn.errors import ShapeError
from robodyn.simulation.loads.arguments import step_times
from robodyn.simulation.trajectory.states.interpolation import between
from robodyn.simulation.trajectory.states.samples import Samples

#: Largest number of samples; a step that leads to more is probably given in a wrong unit.
MAX_SAMPLES = 50_000_000


def instants_of(samples: Samples, times: ArrayLike) -> FloatArray:
    """Instants to resample at, within those of a motion.

    times (n,), or float [s]: Instants, ascending; or a step.
    """
    if not len(samples):
        raise ShapeError("a motion without samples is not known at any instant", name="times")
    first, last = float(samples.t[0]), float(samples.t[-1])
    if np.ndim(numbers("times", times)) == 0:
        if 0.0 < MAX_SAMPLES * number("times", times, "s") < last - first:
            raise ShapeError(
                f"times is {float(np.asarray(times)):.6g} s, and the motion {last - first:.6g} s "
                f"long: that makes more than {MAX_SAMPLES:,} samples, take a longer step",
                name="times",
                given=times,
            )
        return np.minimum(first + step_times(last - first, number("times", times, "s")), last)
    at = np.array(numbers("times", times), float)
    finite(times=at)
    if at.ndim != 1 or (np.diff(at) < 0.0).any():
        raise ShapeError(
            f"times has shape {at.shape}, expected ascending instants (n,) or a step [s]",
            name="times",
            given=at.shape,
        )
    if len(at) and not first <= at[0] <= at[-1] <= last:
        raise ShapeError(
            f"times go from {at[0]:.6g} to {at[-1]:.6g} s, the motion from {first:.6g} to "
            f"{last:.6g} s: a motion is not continued beyond its samples",
            name="times",
            given=(at[0], at[-1]),
            expected=(first, last),
        )
    return at


def resampled(samples: Samples, times: FloatArray) -> Samples:
    """States at other instants; loops are closed by the robot.

    Forces are held from sample to sample, those of driven joints change linearly. Where several
    samples stand at one instant, as before and after an impact, the last of them is taken.
    """
    last = len(samples) - 1
    k = np.clip(np.searchsorted(samples.t, times, side="right") - 1, 0, last)
    size = samples.t[np.minimum(k + 1, last)] - samples.t[k]
    inside = (times > samples.t[k]) & (size > 0.0)
    q, v, a, tau = (np.array(x[k]) for x in (samples.q, samples.v, samples.a, samples.tau))
    if inside.any():
        start = k[inside]
        s = (times[inside] - samples.t[start]) / size[inside]
        q[inside], v[inside], a[inside] = between(samples, start, s)
        for column in samples.driven:
            part = s.reshape(-1, *[1] * len(samples.batch))
            before, after = (samples.tau[at][..., column] for at in (start, start + 1))
            tau[inside, ..., column] = (1.0 - part) * before + part * after
        if samples.robot.nc:
            q[inside], v[inside] = _closed(samples, times[inside], q[inside], v[inside])
    moved = samples.surroundings.at_samples(times, q, v)
    return Samples(samples.robot, times, q, v, a, tau, samples.driven, moved)


def _closed(
    samples: Samples, t: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """States with their loops closed; driven joints stay where they are."""
    robot = samples.robot
    free = np.ones(robot.nv, bool)
    free[list(samples.driven)] = False
    robot = robot.at(t.reshape(-1, *[1] * len(samples.batch)))
    return robot.closed_state(q, v, free)
