"""Frames: rotation errors, components and wrenches, and how far Jacobians are from singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn import ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, named
from robodyn.tolerances import HALF_TURN_ROOT_FLOOR

from .symbols import times


def mobility(J: FloatArray) -> FloatArray:
    """``(sum of 1 / s^2)^(-1/2)`` over singular values ``s``: below the least of them."""
    if J.shape[-2] > J.shape[-1]:
        return np.zeros(J.shape[:-2])
    values = np.linalg.svd(J, compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.asarray(np.sum(values**-2.0, axis=-1) ** -0.5)


def rotation_error(X: FloatArray, goal: FloatArray) -> FloatArray:
    """``2 sin(angle / 2)`` along the axis about which a frame turns to another, in world axes."""
    E = goal[..., :3, :3] @ np.swapaxes(X[..., :3, :3], -1, -2)
    axis: Any = 0.5 * np.stack([
        E[..., 2, 1] - E[..., 1, 2], E[..., 0, 2] - E[..., 2, 0], E[..., 1, 0] - E[..., 0, 1],
    ], axis=-1)  # fmt: skip
    square: Any = 0.25 * (np.trace(E, axis1=-2, axis2=-1) + 1.0)  # of half the angle's cosine
    size = np.asarray(np.sqrt(np.abs(square) + HALF_TURN_ROOT_FLOOR**2))
    return np.asanyarray(axis / size[..., None])


def components(given: Any) -> list[int]:
    """Controlled components, of linear x, y, z and angular x, y, z.

    Raises
    ------
    ShapeError
    """
    rows = list(named("components", given, "numbers of components 0 to 5"))
    valid = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in rows)
    if not valid or not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
        raise mismatch(
            "components", given, "some of 0 to 5, each once: linear x, y, z, angular x, y, z"
        )
    return rows


def checked_wrench(given: Any, t: Any) -> FloatArray:
    """Force and moment that a function returned at time ``t`` [s].

    Raises
    ------
    ShapeError
        If it returned anything else.
    """
    found = np.asarray(given)
    if found.shape[-1:] != (6,) or found.dtype.kind not in "fiubO":
        raise ShapeError(
            f"wrench returned {given!r} at t = {t} s, expected force and moment, shape (6,)",
            name="wrench",
            given=given,
            expected=(6,),
        )
    return found


def in_world(turn: FloatArray, wrench: FloatArray) -> FloatArray:
    """A wrench in axes of a frame, shape (..., 6), in those of the world."""
    force, moment = times(turn, wrench[..., :3]), times(turn, wrench[..., 3:])
    return np.concatenate([force, moment], axis=-1)
