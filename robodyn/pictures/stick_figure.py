"""Stick figure of a mechanism in one posture, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.tolerances import PLANAR

#: A mechanism counts as flat if its thickness is less than this fraction of its size.
FLAT = 0.02


@dataclass(frozen=True, eq=False)
class Dot:
    """A joint.

    Its role is a key of `robodyn.pictures.stick_drawing.MARKS`, its point a position in the world
    [m].
    """

    name: str
    role: str
    point: FloatArray


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force [N] that acts at a point [m], both in world axes."""

    point: FloatArray
    force: FloatArray


@dataclass(frozen=True, eq=False)
class Gap:
    """The two points that coincide once an open loop is closed, shape (2, 3) [m], and a label."""

    ends: FloatArray
    text: str


@dataclass(frozen=True, eq=False)
class StickFigure:
    """A mechanism in one posture.

    bodies (n, 3) [m]: Corners of each link, or of links that are welded together, in the world. The
        first corner is the joint that moves the body. The first body is the base.
    gaps: Gaps of open loops.
    frames (4, 4) [1, m]: Poses in the world of the frames to draw.
    normal (3,), or None: Normal of the plane in which a planar mechanism moves.
    """

    bodies: tuple[FloatArray, ...]
    dots: tuple[Dot, ...]
    arrows: tuple[Arrow, ...] = ()
    gaps: tuple[Gap, ...] = ()
    frames: tuple[FloatArray, ...] = ()
    normal: FloatArray | None = None

    @property
    def points(self) -> FloatArray:
        """All corners of bodies, joints and ends of gaps, shape (n, 3) [m]."""
        dots = np.array([dot.point for dot in self.dots]).reshape(-1, 3)
        return np.concatenate([*self.bodies, dots, *(gap.ends for gap in self.gaps)])


def plane_of(figures: Sequence[StickFigure]) -> FloatArray | None:
    """Horizontal and vertical axis of the plane in which figures are drawn, shape (2, 3).

    ``None`` if the figures are to be drawn in three dimensions.
    """
    normals = [figure.normal for figure in figures if figure.normal is not None]
    if len(normals) == len(figures):
        along = np.abs(np.stack(normals) @ normals[0])
        if along.min() > 1.0 - PLANAR:
            return _right_and_up(normals[0])
    points = np.concatenate([figure.points for figure in figures])
    forces = [arrow.force for figure in figures for arrow in figure.arrows]
    about = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(about.T @ about)
    if not sizes[2] <= FLAT**2 * sizes[1]:
        return None
    normal = axes[2]
    nearest = np.eye(3)[int(np.abs(normal).argmax())]
    normal = nearest if abs(normal @ nearest) > 1.0 - PLANAR else normal
    there = np.array(forces).reshape(-1, 3)
    if np.abs(there @ normal).max(initial=0.0) > FLAT * np.abs(there).max(initial=0.0):
        return None
    return _right_and_up(normal)


def _right_and_up(normal: FloatArray) -> FloatArray:
    """Axes of a plane by its normal: the vertical one is the nearest to z."""
    up = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    up = up - (up @ normal) * normal
    up /= np.linalg.norm(up)
    right = np.cross(up, normal)
    right = right if right[int(np.abs(right).argmax())] > 0.0 else -right
    return np.stack([right, up])
