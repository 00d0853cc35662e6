"""A periodic motion that excites a robot: a few harmonics a joint, from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.symbolic.scalar import cos, sin

__all__ = ["Excitation"]


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion that makes parameters visible; a reference for controllers.

    Each joint moves as ``center + sum of sine sin(k w t) + cosine (cos(k w t) - 1)`` over ``k``,
    with ``w = 2 pi / period``, and is at rest and without acceleration when a period begins.

    Attributes
    ----------
    center : ndarray, shape (nq,) [rad, m]
        Posture at the start of each period; loops are closed there.
    sine, cosine : ndarray, shape (harmonics, nq) [rad, m]
        Zero for joints that follow by closed loops.
    period : float [s]
    joints : tuple of str
        Those that are moved, independent of one another.
    condition : float
        Condition number of the regressor along the motion, columns counted in what they are in a
        motion of 1 rad/s, 1 rad/s^2, and rows in what the motors can give.

    Examples
    --------
    >>> import robodyn as rd
    >>> motion = rd.excitation(rd.load("pan_tilt"), period=4.0, acceleration=20.0, iterations=0)
    >>> q, v, a = motion(0.0)
    >>> bool(abs(v).max() < 1e-12), bool(abs(a).max() < 1e-12)
    (True, True)
    """

    symbolic: ClassVar[bool] = True

    center: FloatArray
    sine: FloatArray
    cosine: FloatArray
    period: float
    joints: tuple[str, ...]
    condition: float

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (nq,), at time ``t`` [s]."""
        w = 2.0 * np.pi / self.period
        q: Any = self.center + np.zeros(len(self.center))
        v: Any = np.zeros(len(self.center))
        a: Any = np.zeros(len(self.center))
        for k, (s, c) in enumerate(zip(self.sine, self.cosine, strict=True), 1):
            f = k * w
            sine, cosine = sin(f * t), cos(f * t)
            q = q + s * sine + c * (cosine - 1.0)
            v = v + (s * cosine - c * sine) * f
            a = a - (s * sine + c * cosine) * (f * f)
        return q, v, a

    def __repr__(self) -> str:
        return (
            f"<Excitation of {', '.join(self.joints)}: {len(self.sine)} harmonics in "
            f"{self.period:g} s, condition {self.condition:.4g}>"
        )
