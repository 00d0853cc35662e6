"""How far joints are beyond the limits of their positions: joints with coordinates, and others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.model.joint_info import JointInfo
from robodyn.tolerances import AT_LIMIT

__all__ = ["excess", "limit_excess", "nearest_turn"]

TURN = 2.0 * np.pi


def limit_excess(
    positions: Mapping[str, Array], joints: Mapping[str, JointInfo]
) -> dict[str, Array]:
    """How far each joint that has limits is beyond them.

    Parameters
    ----------
    positions : mapping of joint name to ndarray, shape (...) [rad, m]
        As `Robot.joint_positions` gives them.
    joints : mapping of joint name to JointInfo
        `Robot.joints`.

    Returns
    -------
    excess : dict of joint name to ndarray, shape (...) [rad, m]
        Positive above the upper limit, negative below the lower one, zero between them.
    """
    found = {}
    for name, position in positions.items():
        limits = joints[name].position_limits
        if limits is not None:
            found[name] = excess(np.asarray(position), *limits)
    return found


def excess(x: Array, lower: ArrayLike, upper: ArrayLike) -> Array:
    """How far positions are beyond limits: above positive, below negative, between them zero."""
    return np.asarray(np.maximum(x - upper, 0.0) + np.minimum(x - lower, 0.0))


def nearest_turn(angle: Array, limits: tuple[float, float] | None) -> Array:
    """The same angle some whole turns away, shape (...) [rad].

    Parameters
    ----------
    angle : ndarray, shape (...) [rad]
    limits : (float, float) or None
        The angle comes within half a turn of the middle between them; within the turn next to the
        limit where there is one only, and stays at that limit where rounding has it beyond; within
        half a turn of zero where there is none.
    """
    lower, upper = limits or (-np.inf, np.inf)
    if np.isfinite(lower) and np.isfinite(upper):
        middle = 0.5 * (lower + upper)
    elif np.isfinite(lower):
        middle = lower + 0.5 * TURN - AT_LIMIT
    elif np.isfinite(upper):
        middle = upper - 0.5 * TURN + AT_LIMIT
    else:
        middle = 0.0
    return np.asarray(angle + TURN * np.round((middle - angle) / TURN))
