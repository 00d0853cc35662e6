"""Motion through waypoints with bounded velocity, acceleration and jerk, in the least time."""

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
        names = ("velocity", "acceleration", "jerk")
        motion = through(self.waypoints, {name: getattr(self, name) for name in names}, _profile)
        object.__setattr__(self, "waypoints", motion.waypoints)
        object.__setattr__(self, "duration", motion.duration)
        object.__setattr__(self, "_motion", motion)

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        return self._motion(t)


def _profile(v: float, a: float, j: float) -> Profile:
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
