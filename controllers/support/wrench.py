"""Measured wrenches of frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn import ShapeError
from robodyn.array_types import FloatArray

from .symbols import times


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
