"""Closing the loops of a linkage after a step, by the code that machine-code steps call."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.simulation.integrators.method import Coordinates
from robodyn.simulation.step_code.plan import DRIFT, NEWTON

__all__ = ["close_loops"]


def close_loops(
    corrections: Function, coordinates: Coordinates, q: FloatArray, v: FloatArray, *t: float
) -> tuple[FloatArray, FloatArray]:
    """The state with its loops closed, as near in kinetic energy as can be.

    States of a batch are corrected each for itself: what becomes of one depends on no other.

    Parameters
    ----------
    corrections : Function
        ``loop_corrections``.
    coordinates : Coordinates
    q, v : ndarray, shape (..., nq), (..., nv)
    t : float
        The time [s], of a robot that depends on it.

    Returns
    -------
    q, v : ndarray, shape (..., nq), (..., nv)
        Not numbers where loops cannot be closed.
    """
    for n in range(NEWTON + 1):
        dq, dv, gap = corrections(q, v, *t)
        drifted = gap > DRIFT
        if n == NEWTON or not np.any(drifted):
            break
        q = np.where(drifted[..., None], coordinates.move(q, dq), q)
    return coordinates.move(q, dq), v + dv
