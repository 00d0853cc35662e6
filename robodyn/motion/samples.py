"""Smooth motions of joints through samples: splines over time, and their rates in joint speeds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.errors import PathError, ShapeError
from robodyn.motion.functions import Reference
from robodyn.tolerances import PATH_SWING, RECORD_TIME


def sample_times(t: ArrayLike, least: int) -> FloatArray:
    """Times of samples [s], shape (n,).

    Raises `ShapeError` if there are too few, or they do not increase.
    """
    times = numbers("t", t).astype(float)
    if times.ndim != 1 or len(times) < least or not np.all(np.diff(times) > 0.0):
        count = {2: "two", 4: "four"}[least]
        raise ShapeError(
            f"t must hold at least {count} strictly increasing times", name="t", given=times.shape
        )
    if not np.isfinite(times).all():
        raise ShapeError("samples hold numbers that are not finite", name="t")
    return times


def samples(name: str, given: ArrayLike, count: int, width: int) -> FloatArray:
    """Samples at ``count`` times, shape (count, width)."""
    values = numbers(name, given).astype(float, copy=False)
    if values.shape != (count, width):
        raise ShapeError(
            f"{count} times need {name} ({count}, {width}); given {values.shape}",
            name=name,
            given=values.shape,
            expected=(count, width),
        )
    if not np.isfinite(values).all():
        raise ShapeError("samples hold numbers that are not finite", name=name)
    return values


def within(times: FloatArray, t: float) -> float:
    """A time within the samples: times outside by rounding are moved to the nearest sample."""
    first, last = float(times[0]), float(times[-1])
    slack = RECORD_TIME * (last - first)
    if not first - slack <= t <= last + slack:
        raise PathError(
            f"the path has samples from t = {first:.6g} s to {last:.6g} s, and was asked for t = "
            f"{t:.12g} s",
            time=float(t),
        )
    return min(max(t, first), last)


def spline(times: FloatArray, values: FloatArray, *, rest: bool = False) -> tuple[Any, Any, Any]:
    """A spline through values and its first and second derivative, as functions of time.

    With ``rest`` both derivatives are zero at both ends.

    Raises `PathError` if it overshoots between the values by more than their range.
    """
    from scipy.interpolate import make_interp_spline

    if rest:
        still = [(1, np.zeros(values.shape[1:])), (2, np.zeros(values.shape[1:]))]
        position: Any = make_interp_spline(times, values, k=5, bc_type=(still, still))
    else:
        position = make_interp_spline(times, values, k=5 if len(times) >= 6 else 3)
    _refuse_swings(times, values, position)
    return position, position.derivative(1), position.derivative(2)


def _refuse_swings(times: FloatArray, values: FloatArray, position: Any) -> None:
    between = (times[:-1, None] + np.array([0.25, 0.5, 0.75]) * np.diff(times)[:, None]).ravel()
    low, high = values.min(axis=0), values.max(axis=0)
    x = position(between)
    beyond = np.maximum(x - high, low - x)
    wrong = beyond > np.maximum(high - low, PATH_SWING)
    if wrong.any():
        row, *column = np.unravel_index(int(np.where(wrong, beyond, 0.0).argmax()), beyond.shape)
        of = f" of coordinate {column[0]}" if column else ""
        k = tuple(column)
        raise PathError(
            f"between its samples{of}, which lie within {low[k]:.4g} and {high[k]:.4g}, a smooth "
            f"path swings out to {x[(row, *k)]:.4g} at t = {between[row]:.6g} s: the times of "
            "samples are too uneven, or too few",
            time=float(between[row]),
        )


# Motions are `functools.partial` of module-level functions, which can be pickled.


def flat_motion(times: FloatArray, values: FloatArray, rest: bool) -> Reference:
    """Joints whose coordinates add; with ``rest`` they stand still outside of the samples."""
    return partial(_flat_at, times, values, rest, spline(times, values, rest=rest))


def _flat_at(
    times: FloatArray, values: FloatArray, rest: bool, curves: tuple[Any, ...], t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if rest and (t <= times[0] or t >= times[-1]):
        place = values[0 if t <= times[0] else -1]
        return place.copy(), np.zeros(place.shape), np.zeros(place.shape)
    position, velocity, acceleration = curves
    t = within(times, t)
    return position(t), velocity(t), acceleration(t)


def planar_motion(times: FloatArray, positions: FloatArray) -> Reference:
    """Planar joint: position x, y, angle; velocity in axes of the child."""
    return partial(_planar_at, times, spline(times, positions))


def _planar_at(
    times: FloatArray, curves: tuple[Any, ...], t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = within(times, t)
    x, (dx, dy, w), (ddx, ddy, dw) = (curve(t) for curve in curves)
    c, s = np.cos(x[2]), np.sin(x[2])
    vx, vy = c * dx + s * dy, c * dy - s * dx
    ax, ay = c * ddx + s * ddy + w * vy, c * ddy - s * ddx - w * vx
    return x, np.array([vx, vy, w]), np.array([ax, ay, dw])


def turning_motion(times: FloatArray, quats: FloatArray) -> Reference:
    """Spherical joint: position a quaternion; angular velocity in axes of the child."""
    return partial(_turning_at, times, rotation_spline(times, quats))


def _turning_at(
    times: FloatArray, turn: Any, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = within(times, t)
    return turn(t).as_quat(), turn(t, 1), turn(t, 2)


def free_motion(times: FloatArray, positions: FloatArray, quats: FloatArray) -> Reference:
    """Floating joint: position and quaternion; velocity the body twist."""
    return partial(_free_at, times, rotation_spline(times, quats), spline(times, positions))


def _free_at(
    times: FloatArray, turn: Any, curves: tuple[Any, ...], t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = within(times, t)
    place, velocity, acceleration = (curve(t) for curve in curves)
    R = turn(t)
    w, back = turn(t, 1), R.inv()
    v = back.apply(velocity)
    a = back.apply(acceleration) - np.cross(w, v)
    position = np.concatenate([place, R.as_quat()])
    return position, np.concatenate([v, w]), np.concatenate([a, turn(t, 2)])


def rotation_spline(times: FloatArray, quats: FloatArray) -> Any:
    """A smooth rotation over time, and its angular velocity and acceleration in body axes."""
    from scipy.spatial.transform import Rotation, RotationSpline

    if not np.all(np.linalg.norm(quats, axis=-1) > 0.0):
        raise ShapeError("a quaternion of zeros is no rotation", name="quats")
    return RotationSpline(times, Rotation.from_quat(quats))
