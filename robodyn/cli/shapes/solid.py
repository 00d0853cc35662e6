"""Uniform bodies that fill the shapes of a link: where they reach, volumes, second moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.view.drawing.geometry import Shape

__all__ = ["Solid", "joined", "solid"]

#: Directions that stand for all points of a ball, shape (n, 3).
_TURN = np.arange(200)
_UP, _AROUND = 1.0 - (2.0 * _TURN + 1.0) / 200.0, _TURN * np.pi * (3.0 - np.sqrt(5.0))
BALL: FloatArray = np.column_stack(
    [np.sqrt(1.0 - _UP**2) * np.cos(_AROUND), np.sqrt(1.0 - _UP**2) * np.sin(_AROUND), _UP]
)


@dataclass(frozen=True, eq=False)
class Solid:
    """A uniform body that fills a shape.

    Attributes
    ----------
    points : ndarray, shape (n, 3) [m]
        Their convex hull contains the shape.
    volume : float [m^3]
    center : ndarray, shape (3,) [m]
    spread : ndarray, shape (3, 3) [m^2]
        Second moments about the centre over the volume: its trace is the square of the polar
        radius of gyration.
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

    Raises
    ------
    ValueError
        If a mesh cannot be read, or encloses no volume.
    MissingExtraError
        If a mesh is to be read without trimesh.
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
    from robodyn.view.drawing.meshes import triangles

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
