"""Positions of joints beyond their limits, for joints with and without coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.model.joint_info import JointInfo
from robodyn.tolerances import AT_LIMIT

TURN = 2.0 * np.pi


def limit_excess(
    positions: Mapping[str, Array], joints: Mapping[str, JointInfo]
) -> dict[str, Array]:
    """Excess of the position of each joint with limits over them.

    positions (...) [rad, m]: As `Robot.joint_positions` gives them.
    joints: `Robot.joints`.
    Returns excess (...) [rad, m]: Positive above the upper limit, negative below the lower one,
        zero between them.
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


def followed(position: Array, joint: JointInfo) -> Array:
    """Positions of a joint along a motion, without jumps by whole turns.

    The angle of a cut joint is computed from the posture, up to whole turns. The first angle is
    unchanged, and turns are added to the others so that they are continuous.

    position (n, ...) [rad, m]: At the instants of the motion, as `Robot.joint_positions` gives it.
    """
    return np.unwrap(position, axis=0) if joint.cut and joint.kind.is_pin else position


def nearest_turn(angle: Array, limits: tuple[float, float] | None) -> Array:
    """The same angle some whole turns away, shape (...) [rad].

    angle (...) [rad]
    limits: The angle comes within half a turn of the middle between them; within the turn next to
        the limit where there is one only, and stays at that limit where rounding has it beyond;
        within half a turn of zero where there is none.
    """
    middle = _middle(limits)
    if angle.ndim == 0 and math.isfinite(angle):  # numpy would take ten times as long
        return angle + TURN * round((middle - float(angle)) / TURN)
    return np.asarray(angle + TURN * np.round((middle - angle) / TURN))


@cache
def _middle(limits: tuple[float, float] | None) -> float:
    """Of the turn that angles are in [rad]."""
    lower, upper = limits or (-math.inf, math.inf)
    if math.isfinite(lower) and math.isfinite(upper):
        return 0.5 * (lower + upper)
    if math.isfinite(lower):
        return lower + 0.5 * TURN - AT_LIMIT
    if math.isfinite(upper):
        return upper - 0.5 * TURN + AT_LIMIT
    return 0.0
