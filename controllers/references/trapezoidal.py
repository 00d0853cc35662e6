"""Motion through waypoints in the least time, with bounded velocity, acceleration and jerk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray

from ..support.gains import checked_call
from .profile import Profile, Through, through


@checked_call
def _at(reference: Any, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
    motion: Through = reference._motion
    return motion(t)


@dataclass(frozen=True, eq=False)
class Trapezoidal:
    """Through waypoints, resting at each, with trapezoidal velocity.

    Between two of them all joints move along a straight line, start and arrive together, as soon as
    the limits of all let them. Before the start and after the end they rest.

    Attributes
    ----------
    waypoints : ndarray, shape (m, n) [rad, m]
    velocity : float or array_like, shape (n,) [rad/s, m/s]
        Largest of each joint.
    acceleration : float or array_like, shape (n,) [rad/s^2, m/s^2]
    duration : float [s]
        When it arrives at the last waypoint.

    Raises
    ------
    ShapeError
        For waypoints that are no positions, and limits that are not positive.

    Examples
    --------
    >>> from robodyn.controllers import Trapezoidal
    >>> reference = Trapezoidal([[0.0, 0.0], [1.0, 0.5]], velocity=0.5, acceleration=1.0)
    >>> reference.duration
    2.5
    >>> q, v, a = reference(1.25)
    >>> q.round(9).tolist(), v.round(9).tolist()
    ([0.5, 0.25], [0.5, 0.25])
    """

    symbolic: ClassVar[bool] = True

    waypoints: FloatArray
    velocity: ArrayLike
    acceleration: ArrayLike
    duration: float = field(init=False)
    _motion: Through = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        _set_motion(self, ("velocity", "acceleration"), _trapezoid)

    __call__ = _at


def _set_motion(reference: Any, names: tuple[str, ...], make: Callable[..., Profile]) -> None:
    """Set the motion of a reference by its waypoints, and by its limits of these names."""
    limits = {name: getattr(reference, name) for name in names}
    motion = through(reference.waypoints, limits, make)
    own = {"waypoints": motion.waypoints, "duration": motion.duration, "_motion": motion}
    vars(reference).update(own)


def _trapezoid(v: float, a: float) -> Profile:
    """The quickest way from 0 to 1 with bounded rates."""
    rise = min(v / a, np.sqrt(1.0 / a))
    cruise = max(1.0 / (a * rise) - rise, 0.0)
    return Profile(((float(rise), a), (float(cruise), 0.0), (float(rise), -a)), 2)


@dataclass(frozen=True, eq=False)
class SCurve:
    """`Trapezoidal` with bounded jerk, so that the acceleration is continuous.

    Attributes
    ----------
    waypoints, velocity, acceleration, duration
        As of `Trapezoidal`.
    jerk : float or array_like, shape (n,) [rad/s^3, m/s^3]
        Largest of each joint.

    Raises
    ------
    ShapeError
        As of `Trapezoidal`.

    Examples
    --------
    >>> from robodyn.controllers import SCurve
    >>> reference = SCurve([[0.0], [1.0]], velocity=0.5, acceleration=1.0, jerk=4.0)
    >>> round(reference.duration, 9)
    2.75
    """

    symbolic: ClassVar[bool] = True

    waypoints: FloatArray
    velocity: ArrayLike
    acceleration: ArrayLike
    jerk: ArrayLike
    duration: float = field(init=False)
    _motion: Through = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        _set_motion(self, ("velocity", "acceleration", "jerk"), _s_curve)

    __call__ = _at


def _s_curve(v: float, a: float, j: float) -> Profile:
    """The quickest way from 0 to 1 with bounded rates.

    The velocity rises for a time ``rise``, and the acceleration for ``ramp`` of it at either end;
    while it rises half of ``velocity * rise`` is covered.
    """
    ramp = min(a / j, np.sqrt(v / j), np.cbrt(0.5 / j))
    top = j * ramp  # the greatest acceleration
    rise = ramp + min(v / top, np.sqrt(0.25 * ramp**2 + 1.0 / top) - 0.5 * ramp)
    flat = max(rise - 2.0 * ramp, 0.0)
    cruise = max(1.0 / (top * (ramp + flat)) - 2.0 * ramp - flat, 0.0)
    ramp, flat, cruise = float(ramp), float(flat), float(cruise)
    up, down = ((ramp, j), (flat, 0.0), (ramp, -j)), ((ramp, -j), (flat, 0.0), (ramp, j))
    return Profile((*up, (cruise, 0.0), *down), 3)
