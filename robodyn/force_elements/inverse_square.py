"""Gravity of a distant point mass, by the inverse-square law [W 5.65-5.69]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from robodyn.arguments import check_fields
from robodyn.arrays import number, vector
from robodyn.errors import SettingsError
from robodyn.force_elements.common.link_element import Vector
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.spatial import RigidInertia, Wrench
from robodyn.symbolic.vector import Sym3, Vec3


@dataclass(frozen=True)
class InverseSquareGravity:
    """Gravity of a planet that is a point in the world, and its gradient.

    With the centre of mass of a body at ``r`` from the planet, its mass ``m`` and the second moment
    ``S`` about the centre of mass (the integral of ``x x^T dm``), the energy of a body is::

        U = - mu m / |r| - mu (3 r.S r / |r|^5 - tr S / |r|^3) / 2

    without terms that are smaller by the square of the size of the body over its distance. Force
    and moment, ``3 mu r x J r / |r|^5`` with the inertia ``J`` [W 5.69], are its derivatives. It
    acts on all bodies, in addition to the uniform ``gravity=`` of the robot.

    Attributes
    ----------
    mu : float [m^3/s^2]
        Gravitational constant times the mass of the planet: 3.986004418e14 of the Earth.
    center : (3,) [m]
        Position of the planet in the world.
    name : str

    Raises
    ------
    ShapeError, SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> earth = rd.InverseSquareGravity(mu=3.986004418e14, center=(0.0, 0.0, -6.371e6))
    >>> robot = rd.load("satellite", base="floating", gravity=(0, 0, 0), forces=[earth])
    >>> a = robot.forward_dynamics(robot.neutral(), [0.0] * robot.nv, [0.0] * robot.nv)
    >>> round(float(a[2]), 2)     # - mu / r^2
    -9.82
    """

    mu: float
    center: Vector = (0.0, 0.0, 0.0)
    name: str = "gravity of a planet"

    #: It acts on all links, in no joint, and has an energy.
    joint: ClassVar[str] = ""
    links: ClassVar[tuple[str, ...]] = ()
    grounded: ClassVar[bool] = True
    dissipates: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "mu", number("mu", self.mu, "m^3/s^2"))
        object.__setattr__(self, "center", vector("center", self.center))
        if not (0.0 < self.mu < math.inf and all(map(math.isfinite, self.center))):
            raise SettingsError(
                f"mu is {self.mu} m^3/s^2 and center {self.center} m, expected a positive number "
                "and finite ones"
            )

    def wrench(self, body: RigidInertia, r: Vec3) -> Wrench:
        """Wrench on a body, about its origin in its axes.

        Parameters
        ----------
        body : RigidInertia
        r : Vec3 [m]
            From the planet to the origin of the body, in its axes.
        """
        c, S = _central(body)
        r = r + c
        inverse = 1.0 / r.dot(r)
        near = self.mu * inverse * sqrt(inverse)  # mu / |r|^3
        steep = near * inverse
        Sr = S * r
        drawn: Number = 1.5 * (_trace(S) - 5.0 * r.dot(Sr) * inverse) * steep - body.m * near
        f = r * drawn + Sr * (3.0 * steep)
        return Wrench(f, c.cross(f) - r.cross(Sr) * (3.0 * steep))

    def energy(self, body: RigidInertia, r: Vec3) -> Number:
        """Potential energy of a body [J]; parameters as of `wrench`."""
        c, S = _central(body)
        r = r + c
        inverse = 1.0 / r.dot(r)
        far = self.mu * sqrt(inverse)
        gradient = 3.0 * r.dot(S * r) * inverse - _trace(S)
        return -far * (body.m + 0.5 * gradient * inverse)


def _central(body: RigidInertia) -> tuple[Vec3, Sym3]:
    """Centre of mass of a body, or its origin where it has no mass; second moment about it."""
    if isinstance(body.m, float) and not body.m:
        return body.h, body.S
    c = body.h * (1.0 / body.m)
    return c, body.S - Sym3.of(c.outer(body.h))


def _trace(S: Sym3) -> Number:
    return S.xx + S.yy + S.zz
