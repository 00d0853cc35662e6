"""Viscous resistance of a fluid at rest, as a sphere feels it [Stokes]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from robodyn.arguments import check_fields
from robodyn.force_elements.common.link_element import PointMotion, Vector
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import Vec3

#: Corners of a tetrahedron about the origin, at a distance of the square root of 3.
CORNERS = ((1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0))


@dataclass(frozen=True)
class StokesDrag:
    """A link in a viscous fluid at rest, which resists it as it does a slow sphere.

    The force on the centre of the sphere is ``-3 pi viscosity diameter v``, the moment
    ``-pi viscosity diameter^3 w``, of the velocity and the angular velocity in the world.

    Attributes
    ----------
    link : str
    point : (3,) [m]
        Centre of the sphere, in link axes.
    diameter : float [m]
    viscosity : float [Pa s]
    name : str

    Examples
    --------
    >>> import robodyn as rd
    >>> honey = rd.StokesDrag("lower", (0.0, 0.0, -1.0), diameter=0.1, viscosity=10.0)
    >>> robot = rd.load("double_pendulum", springs=[honey])
    >>> tau = robot.passive_forces([0.0, 0.0], [0.0, 1.0])  # 3 pi 10 0.1 at 1 m, pi 10 0.1^3
    >>> round(float(tau[1]), 4)
    -9.4562
    """

    tag: ClassVar[str] = "stokes_drag"

    link: str
    point: Vector
    diameter: float = 0.0
    viscosity: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        """Four points, in which equal dampers resist both motions of the sphere as it does."""
        x, y, z = self.point
        r = self.diameter / math.sqrt(6.0)
        return tuple((self.link, (x + r * a, y + r * b, z + r * c)) for a, b, c in CORNERS)

    @property
    def dissipates(self) -> bool:
        """Whether the fluid resists at all."""
        return bool(self.viscosity and self.diameter)

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        """Forces in the four points [N]."""
        damping = 0.75 * math.pi * self.viscosity * self.diameter
        return [x.velocity * -damping for x in at]

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """None."""
        return 0.0


LINK_ELEMENT = StokesDrag
"""What the files of force elements are written with."""
