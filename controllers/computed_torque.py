"""Computed torque: the robot's own inverse dynamics makes the errors linear and uncoupled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import Robot
from robodyn.controllers.gains import gain

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

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite.
    """

    robot: Robot
    reference: Reference
    stiffness: ArrayLike = 100.0
    damping: ArrayLike | None = None
    _k: Array = field(init=False, repr=False)
    _d: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        k = gain("stiffness", self.stiffness, self.robot.nv)
        d = 2.0 * np.sqrt(k) if self.damping is None else self.damping
        object.__setattr__(self, "_k", k)
        object.__setattr__(self, "_d", gain("damping", d, self.robot.nv))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q_ref, v_ref, a_ref = self.reference(t)
        error = self.robot.difference(q, q_ref)
        a = a_ref + self._d * (v_ref - v) + self._k * error
        return self.robot.inverse_dynamics(q, v, a)
