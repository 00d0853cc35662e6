"""Inertia of a body about the origin of its frame, and in other frames."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Link
from robodyn.quick_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class BodyInertia:
    """Inertia of a body about the origin of its frame, in its axes.

    mass [kg]
    h (3,) [kg m]: Mass times centre of mass.
    I (3, 3) [kg m^2]
    """

    mass: float
    h: FloatArray
    I: FloatArray

    def about_center(self) -> FloatArray:
        """Inertia about the centre of mass, in body axes, shape (3, 3) [kg m^2]."""
        if self.mass == 0.0:
            return self.I
        moment = np.outer(self.h, self.h) - (self.h @ self.h) * np.eye(3)
        return self.I + moment / self.mass

    @classmethod
    def zero(cls) -> BodyInertia:
        """Inertia of nothing."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    def __add__(self, other: BodyInertia) -> BodyInertia:
        """Inertia of both, given about the same point and in the same axes."""
        return BodyInertia(self.mass + other.mass, self.h + other.h, self.I + other.I)


def body_inertia(link: Link) -> BodyInertia:
    """Inertia of a link about the origin of its frame, in its axes."""
    if link.inertia is None:
        return BodyInertia.zero()
    return inertia_about_origin(link.inertia)


def inertia_about_origin(inertia: Inertia) -> BodyInertia:
    """Inertia about the origin of the frame in which ``inertia.origin`` is given."""
    central = BodyInertia(inertia.mass, np.zeros(3), inertia.matrix)
    return shift_inertia(inertia.origin.matrix, central)


def shift_inertia(X: FloatArray, inertia: BodyInertia) -> BodyInertia:
    """Express an inertia in another frame.

    X (4, 4) [1, m]: ``X_AB``, the frame B of the given inertia in the new frame A.
    inertia: About the origin of B, in its axes.
    Returns About the origin of A, in its axes.
    """
    R, p = X[:3, :3], X[:3, 3]
    h, m = R @ inertia.h, inertia.mass
    # Parallel axes between any two points, with h the first moment about the old origin:
    # I_A = R I_B R' + (2 p.h + m p.p) 1 - (p h' + h p' + m p p').
    first = np.multiply.outer(p, h)
    moment = R @ inertia.I @ R.T - first - first.T - m * np.multiply.outer(p, p)
    moment += (2.0 * (p @ h) + m * (p @ p)) * np.eye(3)
    return BodyInertia(m, h + m * p, moment)
