"""Angles that differ by whole turns: of these equal postures the nearest to a guess."""

from __future__ import annotations

from collections import Counter

import numpy as np

from robodyn.array_types import Array
from robodyn.model.model import Model

TURN = 2.0 * np.pi


def nearest_turns(model: Model, q: Array, guess: Array, lower: Array, upper: Array) -> Array:
    """The same posture with whole turns added to angles, nearest to a guess within limits.

    q, guess (..., nq)
    lower, upper (..., nq)
    """
    q = q.copy()
    for k in _angles(model):
        angle = q[..., k]
        fewest = np.ceil((lower[..., k] - angle) / TURN)
        most = np.floor((upper[..., k] - angle) / TURN)
        turns = np.clip(np.round((guess[..., k] - angle) / TURN), fewest, most)
        q[..., k] = np.where(fewest <= most, angle + TURN * turns, angle)
    return q


def _angles(model: Model) -> list[int]:
    """Coordinates that turn one joint, and whose turns no coupling and no user counts."""
    users = Counter(k for body in model.bodies for k, *_ in body.q)
    counted = {k for coupling in model.setup.coupled for k, *_ in coupling.weights}
    leading = {i for one in model.bodies.followers for i in one.independent}
    counted |= {k for i in leading for k, *_ in model.bodies.bodies[i].q}
    if model.setup.constraints:
        return []
    return [
        k
        for body in model.bodies
        for turning, (k, factor, _) in zip(body.joint.kind.turning, body.q, strict=False)
        if turning and users[k] == 1 and abs(factor) == 1.0 and k not in counted
    ]
