"""Where motions in minimal coordinates pass flat postures of their loops."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.robot import Robot


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
