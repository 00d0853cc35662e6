"""A spring and a damper at every joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import Robot

__all__ = ["JointPD"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointPD:
    """``tau = stiffness (q_ref - q) + damping (v_ref - v)``, with gravity held if wanted.

    Attributes
    ----------
    robot : Robot
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,).
    stiffness : float or array_like, shape (nv,) [N m/rad, N/m]
    damping : float or array_like, shape (nv,) [N m s/rad, N s/m]
    gravity : bool
        Add the forces that hold the robot up.
    """

    robot: Robot
    reference: Callable[[float], tuple[Array, Array, Array]]
    stiffness: ArrayLike
    damping: ArrayLike
    gravity: bool = True

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques, shape (nv,) [N m, N], at time ``t`` [s]."""
        q_ref, v_ref, _ = self.reference(t)
        tau = np.asarray(self.stiffness) * self.robot.difference(q, q_ref)
        tau = tau + np.asarray(self.damping) * (v_ref - v)
        return tau + self.robot.gravity_forces(q) if self.gravity else tau
