"""Velocity profiles along straight lines under limits: piecewise polynomials of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import PathError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import number, numbers
from robodyn.symbolic.scalar import clip, where
from robodyn.tolerances import SHORTEST_DURATION

from ..support.gains import gain

#: A limit of each joint, shape (n,), from one for all or one for each.
limit = partial(gain, positive=True)


@dataclass(frozen=True)
class Profile:
    """A motion from 0 to 1 whose highest derivative is piecewise constant.

    Each part adds its own displacement, as polynomials in the time since the start would lose
    digits by cancellation if short parts follow a long one.

    Attributes
    ----------
    parts : tuple of (float, float)
        Duration of each part [s], and its highest derivative.
    order : int
        Order of that derivative: 2 for the acceleration, 3 for the jerk.
    """

    parts: tuple[tuple[float, float], ...]
    order: int

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return sum(length for length, _ in self.parts)

    def at(self, t: float) -> tuple[Any, Any, Any]:
        """Position and its first two derivatives at a time [s], in numbers or symbols."""
        start, speed, acceleration, before = 0.0, 0.0, 0.0, 0.0
        s: Any = 0.0
        ds: Any = 0.0
        dds: Any = 0.0
        for length, rate in self.parts:
            if not length > 0.0:
                continue
            jerk = 0.0
            if self.order == 2:
                dds = dds + where(t < start, 0.0, rate - before)
                acceleration, before = rate, rate
            else:
                jerk = rate
            x: Any = clip((t - start) / length, 0.0, 1.0) * length
            s = s + x * (speed + x * (acceleration / 2.0 + x * (jerk / 6.0)))
            ds = ds + x * (acceleration + x * (jerk / 2.0))
            dds = dds + x * jerk
            speed += length * (acceleration + length * (jerk / 2.0))
            acceleration += length * jerk
            start += length
        if self.order == 2:
            dds = dds - where(t < start, 0.0, before)
        return s, ds, dds


@dataclass(frozen=True, eq=False)
class Segment:
    """Motion along a straight line from one position, from a start time on."""

    start: float
    step: FloatArray
    profile: Profile


@dataclass(frozen=True, eq=False)
class Through:
    """Straight lines between waypoints, one after the other, with rest at each.

    On each line all joints start and arrive together, in the least time within the limits of all.
    Before the start and after the end they are at rest.

    Attributes
    ----------
    waypoints : ndarray, shape (m, n) [rad, m]
    duration : float [s]
        When it arrives at the last waypoint.
    """

    waypoints: FloatArray
    segments: tuple[Segment, ...]
    duration: float

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity and acceleration at a time [s], each of shape (n,)."""
        n = self.waypoints.shape[1]
        q, v, a = self.waypoints[0] + 0.0, np.zeros(n), np.zeros(n)
        for way in self.segments:
            s, ds, dds = way.profile.at(t - way.start)
            q, v, a = q + way.step * s, v + way.step * ds, a + way.step * dds
        return q, v, a


def through(
    waypoints: ArrayLike, limits: Mapping[str, ArrayLike], make: Callable[..., Profile]
) -> Through:
    """The motion through waypoints.

    Parameters
    ----------
    waypoints : array_like, shape (m, n) [rad, m]
    limits : mapping of str to float or array_like, shape (n,)
        Limits of the derivatives of positions by name, the first derivative first.
    make : callable
        Makes a profile from limits along a line.

    Raises
    ------
    ShapeError
        For waypoints that are not positions, and limits that are not positive.
    """
    points = positions("waypoints", waypoints)
    largest = [limit(name, given, points.shape[1]) for name, given in limits.items()]
    found, time = [], 0.0
    for step in np.diff(points, axis=0):
        if not step.any():
            continue
        moving = step != 0.0
        most = [float((x[moving] / np.abs(step[moving])).min()) for x in largest]
        found.append(Segment(time, step, make(*most)))
        time += found[-1].profile.duration
    return Through(points, tuple(found), time)


def positions(name: str, given: ArrayLike) -> FloatArray:
    """Waypoints, shape (m, n), in an array of their own."""
    found = np.array(numbers(name, given), float)
    if found.ndim != 2 or len(found) < 2 or not np.isfinite(found).all():
        raise ShapeError(
            f"{name} has shape {found.shape}, expected at least two finite positions (m, n)",
            name=name,
            given=found.shape,
            expected="(m, n)",
        )
    return found


def duration_of(given: float) -> float:
    """A duration [s].

    Raises
    ------
    ShapeError
        If it is not a positive number.
    """
    found = number("duration", given, "s")
    if not SHORTEST_DURATION <= found < np.inf:
        raise ShapeError(
            f"duration is {given!r} s, expected a positive number", name="duration", given=given
        )
    return found


def check_reference(name: str, given: Any) -> None:
    """Check that an object is a reference, by its value at time zero.

    Raises
    ------
    ShapeError
    """
    try:
        _q, _v, _a = given(0.0)
    except PathError:
        raise
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"{name} is a function that gives no three arrays at t = 0 s ({error}), expected one "
            "from the time [s] to position, velocity, acceleration",
            name=name,
            given=given,
        ) from None
