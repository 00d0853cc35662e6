"""Computed torque: the robot's own inverse dynamics makes the errors linear and uncoupled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import Robot

__all__ = ["ComputedTorque"]

Array = NDArray[np.float64]
Reference = Callable[[float], tuple[Array, Array, Array]]


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """``tau = inverse_dynamics(q, v, a_ref + damping (v_ref - v) + stiffness (q_ref - q))``.

    The error then obeys ``e'' + damping e' + stiffness e = 0`` if the model is right.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,).
    stiffness : float or array_like, shape (nv,) [1/s^2]
    damping : float or array_like, shape (nv,), optional [1/s]
        Default: critical, ``2 sqrt(stiffness)``.
    """

    robot: Robot
    reference: Reference
    stiffness: ArrayLike = 100.0
    damping: ArrayLike | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques, shape (nv,) [N m, N], at time ``t`` [s]."""
        stiffness = np.asarray(self.stiffness, float)
        damping = 2.0 * np.sqrt(stiffness) if self.damping is None else np.asarray(self.damping)
        q_ref, v_ref, a_ref = self.reference(t)
        error = self.robot.difference(q, q_ref)
        return self.robot.inverse_dynamics(q, v, a_ref + damping * (v_ref - v) + stiffness * error)
