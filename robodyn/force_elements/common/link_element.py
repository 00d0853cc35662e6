"""What a force element between points of links is to the rest of the package."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Protocol

from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Vec3

__all__ = ["WORLD", "DescribedElement", "LinkElement", "PointMotion", "Vector"]

#: The link that does not move.
WORLD = "world"

Vector = tuple[float, float, float]


class PointMotion:
    """A point of a body in world axes, computed as far as it is asked for.

    Parameters
    ----------
    X, V : Placement, Twist
        Of the body.
    p : Vec3 [m]
        In the axes of the body.
    """

    def __init__(self, X: Placement, V: Twist, p: Vec3) -> None:
        self._X, self._V, self._p = X, V, p

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
        """Force on each point in world axes [N]; none at all where it can never act."""

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """Potential energy [J], of which the elastic part of the forces is the negative slope."""


class DescribedElement(LinkElement, Protocol):
    """One that a description and its file have: a frozen dataclass of links, points and numbers.

    A field annotated ``str`` is the name of a link, except ``name``; one annotated ``Vector`` a
    point or a direction; one annotated ``float`` a number that is not negative. From this its
    element of a file is read, checked and written.

    Attributes
    ----------
    tag : str
        Name of its element in a file.
    """

    tag: ClassVar[str]

    @property
    def name(self) -> str:
        """What messages call it; may be empty."""
