"""Jumps of speeds by impulses at joints [W 6.18].

An impulse `p` along some speeds changes them by `A p`. `A` is the inverse of their apparent mass,
with loops closed and driven joints held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.tolerances import COMPLEMENTARITY_ZERO

__all__ = ["impose_speeds", "responses"]


def responses(
    robot: Robot,
    q: FloatArray,
    impulses: FloatArray,
    driven: Sequence[int] = (),
    base: BaseMotion | None = None,
) -> FloatArray:
    """Jumps of all speeds under generalised impulses, shape (k, nv); driven speeds do not jump."""
    return np.asarray(robot.impact_dynamics.responses(q, impulses, tuple(driven), base))


def impose_speeds(
    robot: Robot,
    q: FloatArray,
    v: FloatArray,
    speeds: Sequence[int],
    wanted: FloatArray,
    base: BaseMotion | None = None,
) -> FloatArray:
    """All speeds after impulses along some speeds have brought these to wanted values."""
    at = list(speeds)
    gap = wanted - v[at]
    if not gap.any():
        return v
    jumps = responses(robot, q, np.eye(robot.nv)[at], (), base)
    v = v + np.linalg.lstsq(jumps[:, at].T, gap, rcond=COMPLEMENTARITY_ZERO)[0] @ jumps
    v[at] = wanted
    return v
