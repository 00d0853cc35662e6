"""Smooth joint trajectories: position, velocity and acceleration at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import finite, numbers
from robodyn.symbolic.scalar import clip

from ..support.gains import checked_call
from .profile import duration_of


def _over_joints(name: str, value: ArrayLike) -> FloatArray:
    """Finite numbers for each joint, of each motion, or one for all, in an array of their own."""
    array = np.array(numbers(name, value), float)
    finite(**{name: array})
    return array


@dataclass(frozen=True, eq=False)
class PointToPoint:
    """From one position to another with zero velocity and acceleration at both ends.

    A polynomial of fifth degree in time.

    Attributes
    ----------
    q0, q1 : ndarray, shape (..., n) [rad, m]
        Leading axes are those of many motions at once.
    duration : float [s]

    Examples
    --------
    >>> from robodyn.controllers import PointToPoint
    >>> reference = PointToPoint([0.0, 0.0], [1.0, 2.0], 2.0)
    >>> position, velocity, acceleration = reference(1.0)
    >>> position.tolist(), acceleration.tolist()     # half way
    ([0.5, 1.0], [0.0, 0.0])
    """

    symbolic: ClassVar[bool] = True

    q0: FloatArray
    q1: FloatArray
    duration: float

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("q0", "q1"):
            object.__setattr__(self, name, _over_joints(name, getattr(self, name)))
        if self.q0.shape != self.q1.shape:
            raise ShapeError(
                f"q0 has shape {self.q0.shape} and q1 {self.q1.shape}, expected one shape (n,)",
                name="q1",
                given=self.q1.shape,
                expected=self.q0.shape,
            )
        object.__setattr__(self, "duration", duration_of(self.duration))

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (..., n), at time ``t`` [s]."""
        T = self.duration
        s: Any = clip(t / T, 0.0, 1.0)
        way = self.q1 - self.q0
        q = self.q0 + way * (s**3 * (10.0 - 15.0 * s + 6.0 * s * s))
        v = way * (30.0 * s * s * (1.0 - s) ** 2 / T)
        a = way * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / (T * T))
        return q, v, a


@dataclass(frozen=True, eq=False)
class SineReference:
    """Oscillation about a centre that starts at rest: ``A (1 - cos(w t)) / 2``.

    Attributes
    ----------
    center : ndarray, shape (..., n) [rad, m]
        Position at ``t = 0``; leading axes are those of many motions at once.
    amplitude : ndarray, shape (..., n) [rad, m]
        From one turning point to the other.
    frequency : ndarray, shape (..., n) [Hz]

    Examples
    --------
    >>> import numpy as np
    >>> from robodyn.controllers import SineReference
    >>> sine = SineReference(np.zeros(1), np.ones(1), np.array([0.5]))     # 0.5 Hz
    >>> position, velocity, acceleration = sine(1.0)
    >>> position.round(9).tolist(), abs(velocity.round(9)).tolist()     # half a period later
    ([1.0], [0.0])
    """

    symbolic: ClassVar[bool] = True

    center: FloatArray
    amplitude: FloatArray
    frequency: FloatArray

    def __post_init__(self) -> None:
        check_fields(self)
        given = {}
        for name in ("center", "amplitude", "frequency"):
            given[name] = _over_joints(name, getattr(self, name))
        shapes = {name: array.shape for name, array in given.items()}
        try:
            shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ShapeError(
                f"{shown}: expected one shape (n,)", name="amplitude", given=shapes
            ) from None
        for name, array in given.items():
            object.__setattr__(self, name, np.array(np.broadcast_to(array, shape)))

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (..., n), at time ``t`` [s]."""
        w = 2.0 * np.pi * self.frequency
        half = 0.5 * self.amplitude
        return (
            self.center + half * (1.0 - np.cos(w * t)),
            half * w * np.sin(w * t),
            half * w * w * np.cos(w * t),
        )
