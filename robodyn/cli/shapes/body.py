"""Whether a body can have its mass, its centre and its inertia within a shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.cli.shapes.solid import BALL, Solid
from robodyn.description import Inertia

__all__ = ["Body", "Fit", "fit"]

#: Directions in which a body is compared with its shape, shape (n, 3).
DIRECTIONS: FloatArray = np.concatenate([np.eye(3), BALL])
#: Part of its size by which a link may reach beyond the shape that is drawn.
MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class Body:
    """What a file says about the mass of a link.

    Attributes
    ----------
    mass : float [kg]
    center : ndarray, shape (3,) [m]
        In link axes.
    spread : ndarray, shape (3, 3) [m^2]
        Second moments about the centre over the mass, in link axes.
    """

    mass: float
    center: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, inertia: Inertia) -> Body:
        """The body of an ``<inertial>`` with a mass."""
        X, J = inertia.origin.matrix, inertia.matrix / inertia.mass
        R = X[:3, :3]
        return cls(inertia.mass, X[:3, 3], R @ (0.5 * np.trace(J) * np.eye(3) - J) @ R.T)

    @property
    def inertia(self) -> FloatArray:
        """Inertia about the centre of mass in link axes, shape (3, 3) [kg m^2]."""
        J: FloatArray = self.mass * (np.trace(self.spread) * np.eye(3) - self.spread)
        return J


@dataclass(frozen=True)
class Fit:
    """How a body fits into a shape.

    Attributes
    ----------
    outside : float [m]
        How far the centre of mass is outside of the convex hull.
    wide : float [1]
        Mean square of the distance of the mass from its centre, along the worst direction, over
        the most that mass within the hull can have.
    radii : (float, float) [m]
        Radius of gyration along that direction, and the largest there can be.
    density : float [kg/m^3]
        As if the mass filled the shape.
    unlike : float [1]
        Difference from the second moments of the shape, filled uniformly, over these.
    size : float [m]
        Largest distance between points of the shape, at most.
    """

    outside: float
    wide: float
    radii: tuple[float, float]
    density: float
    unlike: float
    size: float


def fit(body: Body, shape: Solid) -> Fit:
    """Compare a body with a shape."""
    along = (shape.points - body.center) @ DIRECTIONS.T
    ahead, behind = along.max(axis=0), -along.min(axis=0)
    # The variance of numbers between -b and a with the mean 0 is a b at most.
    square = np.einsum("ni,ij,nj->n", DIRECTIONS, body.spread, DIRECTIONS)
    size = float(np.linalg.norm(np.ptp(shape.points, axis=0)))
    reach = np.maximum(np.stack([ahead, behind]), 0.0) + MARGIN * size
    most = reach[0] * reach[1]
    worst = int(np.argmax(square / most))
    return Fit(
        outside=float(max(-ahead.min(), -behind.min(), 0.0)),
        wide=float(square[worst] / most[worst]),
        radii=(float(np.sqrt(max(square[worst], 0.0))), float(np.sqrt(most[worst]))),
        density=body.mass / shape.volume,
        unlike=float(np.linalg.norm(body.spread - shape.spread) / np.linalg.norm(shape.spread)),
        size=size,
    )
