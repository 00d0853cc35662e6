"""Points on the ground."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.array_types import Array

__all__ = ["GroundContact"]


@dataclass(frozen=True)
class GroundContact:
    """A point of a link that may touch the ground.

    Attributes
    ----------
    force : ndarray, shape (..., 3) [N]
        Of the ground on the link, in world axes.
    depth : ndarray, shape (...) [m]
        Of the point in the ground; zero above it.
    slip : ndarray, shape (..., 3) [m/s]
        Velocity of the point along the ground, in world axes.
    """

    force: Array
    depth: Array
    slip: Array
