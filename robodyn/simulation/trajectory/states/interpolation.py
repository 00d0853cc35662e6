"""The state of a motion between its samples, on the manifold of its coordinates.

Within a step the position is ``integrate(q, u)``, with the sample before it. As forces are held
within a step, accelerations jump at its end. So ``u`` is the polynomial of fourth order that has
the position, speed and acceleration at the start of the step, and the position and speed at its
end. The error of positions is of fifth order in the step, that of speeds of fourth order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import finite, number, numbers
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.loads.arguments import step_times
from robodyn.simulation.trajectory.states.samples import Samples

Indices = NDArray[np.intp]

#: Value, first and second derivative at fractions of steps.
Polynomial = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]

#: Step of finite differences for the rate of speeds, as a fraction of the time step.
NEAR = 1e-2


def between(
    samples: Samples, k: Indices, s: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """States within steps.

    k (m,): Index of the sample at the start of each step; the next one must be at another time.
    s (m,): Fractions of these steps, 0 to 1.
    Returns q, v, a (m, ..., nq), (m, ..., nv): Loops are open by the error of interpolation.
    """
    robot, (h, part), path = samples.robot, _times(samples, k, s), _path(samples, k)
    u, du, ddu = path(part)
    q = robot.integrate(np.asarray(samples.q[k]), u)
    if robot.joints.coordinates_add:
        v, a = du / h, ddu / (h * h)
    else:
        v, a = _speeds(robot, u, du) / h, _rate_of_speeds(robot, path, part) / (h * h)
    return q, v, a


def positions_between(samples: Samples, k: Indices, s: FloatArray) -> FloatArray:
    """Positions alone; arguments as for `between`."""
    _, part = _times(samples, k, s)
    return samples.robot.integrate(np.asarray(samples.q[k]), _path(samples, k)(part)[0])


def _times(samples: Samples, k: Indices, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Length and fraction of each step, with axes for broadcasting over states."""
    inner = [1] * (samples.q.ndim - 1)
    return (samples.t[k + 1] - samples.t[k]).reshape(-1, *inner), s.reshape(-1, *inner)


def _path(samples: Samples, k: Indices) -> Polynomial:
    """Polynomials of ``u`` in steps, from the sample before each."""
    robot, (h, _) = samples.robot, _times(samples, k, np.zeros(len(k)))
    v0, a0, v1 = (np.asarray(x) for x in (samples.v[k], samples.a[k], samples.v[k + 1]))
    whole = robot.difference(np.asarray(samples.q[k]), np.asarray(samples.q[k + 1]))
    rate = v1 if robot.joints.coordinates_add else robot.tangent_rate(whole, v1)
    return _quartic(h * v0, h * h * a0, whole, h * rate)


def _quartic(v0: FloatArray, a0: FloatArray, u1: FloatArray, v1: FloatArray) -> Polynomial:
    """Polynomial ``u(s)`` with ``u(0) = 0`` and given rates at 0, value and rate at 1."""
    rest, slope = u1 - v0 - 0.5 * a0, v1 - v0 - a0
    b, c, d, e = v0, 0.5 * a0, 4.0 * rest - slope, slope - 3.0 * rest

    def at(s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        u = s * (b + s * (c + s * (d + s * e)))
        du = b + s * (2.0 * c + s * (3.0 * d + s * 4.0 * e))
        return u, du, 2.0 * c + s * (6.0 * d + s * 12.0 * e)

    return at


def _speeds(robot: Robot, u: FloatArray, du: FloatArray) -> FloatArray:
    """Speeds for a rate of ``u``: the inverse of `Robot.tangent_rate`.

    That map is block diagonal, with a block for each joint, so that the same column of all blocks
    is found by one call.
    """
    slices = [robot.joints[name].v for name in robot.joint_names]
    widest = max((at.stop - at.start for at in slices), default=0)
    columns = []
    for k in range(widest):
        one = np.zeros(robot.nv)
        one[[at.start + k for at in slices if at.start + k < at.stop]] = 1.0
        columns.append(robot.tangent_rate(u, np.broadcast_to(one, u.shape)))
    maps, v = np.stack(columns, axis=-1), np.empty_like(du)
    for at in slices:
        width = at.stop - at.start
        v[..., at] = np.linalg.solve(maps[..., at, :width], du[..., at, None])[..., 0]
    return v


def _rate_of_speeds(robot: Robot, path: Polynomial, s: FloatArray) -> FloatArray:
    """Rate of the speeds along a path, by a central difference of fourth order."""

    def speeds(offset: float) -> FloatArray:
        u, du, _ = path(s + offset)
        return _speeds(robot, u, du)

    near = speeds(NEAR) - speeds(-NEAR)
    far = speeds(2.0 * NEAR) - speeds(-2.0 * NEAR)
    return (8.0 * near - far) / (12.0 * NEAR)


def flat_crossings(robot: Robot, q: FloatArray) -> tuple[Array, Array]:
    """Steps in which loops of a robot lie flat, and how far on.

    q (n, ..., nq): Coordinates along motions.
    Returns steps (crossings, 1 + axes of ``...`` + 1): The step, the motion, and the number of the
        loop among `FlatPostures.loops`.
    Returns parts (crossings,): Fractions of these steps, 0 to 1.
    """
    phases = robot.model.flat_postures.phases(q, robot.dependent_positions)
    whole = np.floor(phases)
    steps = np.argwhere(whole[1:] != whole[:-1])
    at = tuple(steps.T)
    before, after = phases[:-1][at], phases[1:][at]
    with np.errstate(invalid="ignore"):  # of postures that are open
        parts = (np.maximum(whole[:-1][at], whole[1:][at]) - before) / (after - before)
    return steps, np.asarray(parts)


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
    return Samples(samples.robot, times, q, v, a, tau, samples.driven, moved, samples.friction)


def _closed(
    samples: Samples, t: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """States with their loops closed; driven joints stay where they are."""
    robot = samples.robot
    free = np.ones(robot.nv, bool)
    free[list(samples.driven)] = False
    robot = robot.at(t.reshape(-1, *[1] * len(samples.batch)))
    return robot.closed_state(q, v, free)
