"""Uniform bodies that fill the shapes of a link, and whether a mass can lie within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.shapes.geometry import Shape
from robodyn.shapes.meshes import triangles

#: Directions that stand for all points of a ball, shape (n, 3).
_TURN = np.arange(200)
_UP, _AROUND = 1.0 - (2.0 * _TURN + 1.0) / 200.0, _TURN * np.pi * (3.0 - np.sqrt(5.0))
BALL: FloatArray = np.column_stack(
    [np.sqrt(1.0 - _UP**2) * np.cos(_AROUND), np.sqrt(1.0 - _UP**2) * np.sin(_AROUND), _UP]
)


@dataclass(frozen=True, eq=False)
class Solid:
    """A uniform body that fills a shape.

    points (n, 3) [m]: Their convex hull contains the shape.
    volume [m^3]
    center (3,) [m]
    spread (3, 3) [m^2]: Second moments about the centre over the volume: its trace is the square of
        the polar radius of gyration.
    """

    points: FloatArray
    volume: float
    center: FloatArray
    spread: FloatArray

    def moved(self, X: FloatArray) -> Solid:
        """The same body where a pose puts it, shape (4, 4)."""
        R, p = X[:3, :3], X[:3, 3]
        return Solid(self.points @ R.T + p, self.volume, R @ self.center + p, R @ self.spread @ R.T)


def solid(shape: Shape) -> Solid:
    """The uniform body of a shape, in link axes.

    Raises `ValueError` if a mesh cannot be read or encloses no volume, `MissingExtraError` if one
    is to be read without trimesh.
    """
    return OF_KIND[shape.kind](shape).moved(shape.X_LS)


def joined(parts: Sequence[Solid]) -> Solid:
    """Several bodies as one; where they overlap both count."""
    volume = sum(part.volume for part in parts)
    center = np.asarray(sum(part.volume * part.center for part in parts)) / volume
    spread = sum(
        part.volume * (part.spread + np.outer(part.center - center, part.center - center))
        for part in parts
    )
    return Solid(
        np.concatenate([part.points for part in parts]), volume, center, np.asarray(spread) / volume
    )


def _about_origin(points: FloatArray, volume: float, squares: ArrayLike) -> Solid:
    return Solid(points, volume, np.zeros(3), np.diag(np.asarray(squares)))


def _box(shape: Shape) -> Solid:
    half = 0.5 * np.array(shape.size)
    corners = half * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return _about_origin(corners, 8.0 * float(half.prod()), half**2 / 3.0)


def _cylinder(shape: Shape) -> Solid:
    r, length = shape.size
    turn = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    ring = r * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(48)])
    end = np.array([0.0, 0.0, 0.5 * length])
    squares = (r**2 / 4.0, r**2 / 4.0, length**2 / 12.0)
    return _about_origin(np.concatenate([ring - end, ring + end]), np.pi * r**2 * length, squares)


def _sphere(shape: Shape) -> Solid:
    (r,) = shape.size
    return _about_origin(r * BALL, 4.0 / 3.0 * np.pi * r**3, (r**2 / 5.0,) * 3)


def _capsule(shape: Shape) -> Solid:
    r, length = shape.size
    end = np.array([0.0, 0.0, 0.5 * length])
    ball, middle = 4.0 / 3.0 * np.pi * r**3, np.pi * r**2 * length
    # the mean of z^2 over both half balls: r^2/5 about the middle of the ball, 3 r/8 from it
    along = ball * (r**2 / 5.0 + 2.0 * 0.375 * r * end[2] + end[2] ** 2) + middle * length**2 / 12.0
    across = ball * r**2 / 5.0 + middle * r**2 / 4.0
    volume = ball + middle
    points = np.concatenate([r * BALL - end, r * BALL + end])
    return _about_origin(points, volume, np.array([across, across, along]) / volume)


def _mesh(shape: Shape) -> Solid:
    mesh = triangles(shape)
    if not mesh.is_volume:  # surfaces that are not closed enclose their convex hull at most
        mesh = mesh.convex_hull
    properties = mesh.mass_properties
    volume = float(properties["volume"])
    if not volume > 0.0:
        raise ValueError(f"mesh {shape.file and shape.file.name!r} encloses no volume")
    J = np.asarray(properties["inertia"]) / volume
    spread = 0.5 * np.trace(J) * np.eye(3) - J
    points = np.asarray(mesh.convex_hull.vertices)
    return Solid(points, volume, np.asarray(properties["center_mass"]), spread)


OF_KIND = {
    "box": _box, "cylinder": _cylinder, "sphere": _sphere, "capsule": _capsule, "mesh": _mesh,
}  # fmt: skip


#: Directions in which a body is compared with its shape, shape (n, 3).
DIRECTIONS: FloatArray = np.concatenate([np.eye(3), BALL])
#: Part of its size by which a link may reach beyond the shape that is drawn.
MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class MassProperties:
    """What a file says about the mass of a link.

    mass [kg]
    center (3,) [m]: In link axes.
    spread (3, 3) [m^2]: Second moments about the centre over the mass, in link axes.
    """

    mass: float
    center: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, inertia: Inertia) -> MassProperties:
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
class ShapeFit:
    """How a body fits into a shape.

    outside [m]: How far the centre of mass is outside of the convex hull.
    wide [1]: Mean square of the distance of the mass from its centre, along the worst direction,
        over the most that mass within the hull can have.
    radii [m]: Radius of gyration along that direction, and the largest there can be.
    density [kg/m^3]: As if the mass filled the shape.
    unlike [1]: Difference from the second moments of the shape, filled uniformly, over these.
    size [m]: Largest distance between points of the shape, at most.
    """

    outside: float
    wide: float
    radii: tuple[float, float]
    density: float
    unlike: float
    size: float


def fit(body: MassProperties, shape: Solid) -> ShapeFit:
    """Compare a body with a shape."""
    along = (shape.points - body.center) @ DIRECTIONS.T
    ahead, behind = along.max(axis=0), -along.min(axis=0)
    # The variance of numbers between -b and a with the mean 0 is a b at most.
    square = np.einsum("ni,ij,nj->n", DIRECTIONS, body.spread, DIRECTIONS)
    size = float(np.linalg.norm(np.ptp(shape.points, axis=0)))
    reach = np.maximum(np.stack([ahead, behind]), 0.0) + MARGIN * size
    most = reach[0] * reach[1]
    worst = int(np.argmax(square / most))
    return ShapeFit(
        outside=float(max(-ahead.min(), -behind.min(), 0.0)),
        wide=float(square[worst] / most[worst]),
        radii=(float(np.sqrt(max(square[worst], 0.0))), float(np.sqrt(most[worst]))),
        density=body.mass / shape.volume,
        unlike=float(np.linalg.norm(body.spread - shape.spread) / np.linalg.norm(shape.spread)),
        size=size,
    )
