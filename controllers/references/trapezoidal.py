"""Motion through waypoints with bounded velocity and acceleration, in the least time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray

from ..support.gains import checked_call
from .profile import Profile, Through, through


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
        limits = {"velocity": self.velocity, "acceleration": self.acceleration}
        motion = through(self.waypoints, limits, _profile)
        object.__setattr__(self, "waypoints", motion.waypoints)
        object.__setattr__(self, "duration", motion.duration)
        object.__setattr__(self, "_motion", motion)

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        return self._motion(t)


def _profile(v: float, a: float) -> Profile:
    """The quickest way from 0 to 1 with bounded rates."""
    rise = min(v / a, np.sqrt(1.0 / a))
    cruise = max(1.0 / (a * rise) - rise, 0.0)
    return Profile(((float(rise), a), (float(cruise), 0.0), (float(rise), -a)), 2)
