"""Contacts of points with the ground."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.array_types import Array

__all__ = ["GroundContact"]


@dataclass(frozen=True)
class GroundContact:
    """Contact of a point of a link with the ground.

    Attributes
    ----------
    force : ndarray, shape (..., 3) [N]
        Force of the ground on the link, in world axes.
    depth : ndarray, shape (...) [m]
        Penetration of the point; zero above the ground.
    slip : ndarray, shape (..., 3) [m/s]
        Tangential velocity of the point, in world axes.
    """

    force: Array
    depth: Array
    slip: Array
