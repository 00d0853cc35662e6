"""Stops at the limits of joints that give way a little [Hunt, Crossley 1975].

There are no branches: what is zero away from a stop is a sum of a number and its size.
"""

from __future__ import annotations

import math

from robodyn.symbolic.scalar import Number, sqrt
from robodyn.tolerances import PENETRATION_FLOOR

__all__ = ["depths", "stop_energy", "stop_force"]


def stop_force(
    x: Number, v: Number, lower: float, upper: float, stiffness: float, damping: float
) -> Number:
    """Of the stops on a joint: ``k d (1 + c dd/dt)`` away from the stop, and never towards it.

    Parameters
    ----------
    x, v : Number [rad, m], [rad/s, m/s]
    lower, upper : float [rad, m]
        Where the stops are; infinite: there is none.
    stiffness : float [N m/rad, N/m]
        The ``k`` by which the depth ``d`` in the stop is multiplied.
    damping : float [s/rad, s/m]
        The ``c`` by which its rate is.
    """
    below, above = depths(x, lower, upper)
    return stiffness * (below * _positive(1.0 - v * damping) - above * _positive(1.0 + v * damping))


def stop_energy(x: Number, lower: float, upper: float, stiffness: float) -> Number:
    """What the stops give back when they are left slowly [J]."""
    below, above = depths(x, lower, upper)
    return (below * below + above * above) * (0.5 * stiffness)


def depths(x: Number, lower: float, upper: float) -> tuple[Number, Number]:
    """How far a joint is in its lower and its upper stop; zero outside [rad, m]."""
    below = _positive(lower - x) if math.isfinite(lower) else 0.0
    above = _positive(x - upper) if math.isfinite(upper) else 0.0
    return below, above


def _positive(x: Number) -> Number:
    """``x`` where it is positive, else zero."""
    return (x + sqrt(x * x + PENETRATION_FLOOR**2)) * 0.5
