"""A spring and a damper at every joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import Robot
from robodyn.controllers.gains import gain

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

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite.
    """

    robot: Robot
    reference: Callable[[float], tuple[Array, Array, Array]]
    stiffness: ArrayLike
    damping: ArrayLike
    gravity: bool = True
    _k: Array = field(init=False, repr=False)
    _d: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_k", gain("stiffness", self.stiffness, self.robot.nv))
        object.__setattr__(self, "_d", gain("damping", self.damping, self.robot.nv))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q_ref, v_ref, _ = self.reference(t)
        tau = self._k * self.robot.difference(q, q_ref) + self._d * (v_ref - v)
        return tau + self.robot.gravity_forces(q) if self.gravity else tau
