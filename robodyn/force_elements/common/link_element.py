"""Interface of force elements between points of links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Protocol

from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Vec3

#: Name of the link that is fixed in the world.
WORLD = "world"

Vector = tuple[float, float, float]


class PointMotion:
    """Position and velocity of a point of a body in world axes, computed when they are used.

    X, V: Of the body.
    p [m]: In the axes of the body.
    gravity [m/s^2]: In the world.
    """

    def __init__(self, X: Placement, V: Twist, p: Vec3, gravity: Vec3) -> None:
        self._X, self._V, self._p, self.gravity = X, V, p, gravity

    @cached_property
    def position(self) -> Vec3:
        """[m]."""
        return self._X.R * self._p + self._X.p

    @cached_property
    def velocity(self) -> Vec3:
        """[m/s]."""
        return self._X.R * (self._V.v + self._V.w.cross(self._p))


class LinkElement(Protocol):
    """A force element that acts on points of links."""

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        """Link and point in its axes [m] of each point that the element acts on."""

    @property
    def dissipates(self) -> bool:
        """Whether it takes energy from the motion."""

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        """Force on each point in world axes [N]; empty if it can never act."""

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """Potential energy [J]; the elastic part of the forces is its negative gradient."""


class DescribedElement(LinkElement, Protocol):
    """An element that descriptions and files can have: a frozen dataclass of its parameters.

    A field annotated ``str`` is the name of a link, except ``name``; one annotated ``Vector`` a
    point or a direction; one annotated ``float`` a number that is not negative. Elements of files
    are read, checked and written by these annotations.

    tag: Name of its element in a file.
    """

    tag: ClassVar[str]

    @property
    def name(self) -> str:
        """Name for messages; may be empty."""
