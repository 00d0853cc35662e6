"""What a link meets: the immovable world, a particle, or a part of another robot.

Two links of one robot meet as well, which is between the two only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import Array
from robodyn.arrays import finite, shaped
from robodyn.errors import SettingsError, ShapeError
from robodyn.tolerances import LIGHTEST_PARTICLE

#: Speeds [rad/s, m/s] and distances [m] whose products are still numbers.
GREATEST = 1e100


@dataclass(frozen=True, eq=False)
class PointMass:
    """A particle that a link meets, or takes along.

    Attributes
    ----------
    mass : float [kg]
    velocity : array_like, shape (..., 3) [m/s]
        In world axes.

    Raises
    ------
    SettingsError
        If the mass is not a positive number, or so large or small that its inverse is none.
    ShapeError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot, tip = rd.load("double_pendulum"), (0, 0, -1)
    >>> ball = rd.PointMass(0.5, velocity=(1.0, 0.0, 0.0))
    >>> hit = robot.impact([0, 0], [0, 0], "lower", tip, (1, 0, 0), against=ball, restitution=1)
    >>> abs(float(hit.energy_loss)) < 1e-12
    True
    """

    mass: float
    velocity: ArrayLike

    def __post_init__(self) -> None:
        check_fields(self)
        known = isinstance(self.mass, int | float | np.number) and self.mass is not True
        if not (known and 1.0 / LIGHTEST_PARTICLE > self.mass >= LIGHTEST_PARTICLE):
            raise SettingsError(
                f"mass is {self.mass!r}, expected a positive number [kg], from "
                f"{LIGHTEST_PARTICLE:g} to {1.0 / LIGHTEST_PARTICLE:g}"
            )
        velocity = shaped("velocity", self.velocity, 3)
        finite(velocity=velocity)
        refuse_overflow("velocity", velocity)
        object.__setattr__(self, "velocity", velocity)

    @cached_property
    def as_partner(self) -> MovingPoint:
        """The particle as links meet it."""
        return MovingPoint.alone(np.asarray(self.velocity), np.eye(3).reshape(9) / self.mass)


@dataclass(frozen=True, eq=False)
class RobotPoint:
    """A point of another robot, in some state, that a link meets.

    Attributes
    ----------
    robot : Robot
        At a time, if it depends on time.
    q : array_like, shape (..., nq) [rad, m]
    v : array_like, shape (..., nv) [rad/s, m/s]
    link : str
    point : array_like, shape (3,) [m]
        In axes of that link, from its origin.
    base : BaseMotion, optional
        Of a robot with a moving base.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot, tip = rd.load("double_pendulum"), (0, 0, -1)
    >>> other = rd.RobotPoint(robot, [0, 0], [1, 0], "lower", tip)
    >>> hit = robot.impact([0, 0], [-1, 0], "lower", tip, (-1, 0, 0), against=other)
    >>> (hit.v + hit.against_v).round(9).tolist()     # the same robots, at opposite speeds
    [0.0, 0.0]
    """

    robot: Any
    q: ArrayLike
    v: ArrayLike
    link: str
    point: ArrayLike
    base: Any = None

    def __post_init__(self) -> None:
        check_fields(self)


class Partner(Protocol):
    """What the link meets.

    velocity (..., 3) [m/s]: Of its point, in world axes.
    mobility (..., 3, 3) [1/kg]: Jump of that velocity a unit of impulse.
    """

    @property
    def velocity(self) -> Array:
        """Of its point."""

    @property
    def mobility(self) -> Array:
        """Jump of that velocity a unit of impulse."""

    def after(self, impulse: Array) -> Array | None:
        """Its speeds afterwards, for the impulse on the link that it met."""


class World:
    """The immovable surroundings."""

    velocity = np.zeros(3)
    mobility = np.zeros((3, 3))

    def after(self, impulse: Array) -> None:
        """It has no speeds."""


@dataclass(frozen=True, eq=False)
class MovingPoint:
    """A point with a mobility: a point mass, or one of another robot.

    velocity (..., 3) [m/s]
    mobility (..., 3, 3) [1/kg]
    jump: From the impulse on this point, (..., 3), to what its owner's speeds are afterwards.
    """

    velocity: Array
    mobility: Array
    jump: Callable[[Array], Array]

    @classmethod
    def alone(cls, velocity: Array, rows: Array) -> MovingPoint:
        """A point whose owner has no other speeds, with its mobility row by row, (..., 9)."""
        mobility = np.reshape(rows, (*np.shape(rows)[:-1], 3, 3))
        return cls(
            velocity, mobility, lambda p: velocity + np.einsum("...ij,...j->...i", mobility, p)
        )

    @cached_property
    def rows(self) -> Array:
        """Its mobility row by row, shape (..., 9) [1/kg]."""
        return self.mobility.reshape(*self.mobility.shape[:-2], 9)

    def after(self, impulse: Array) -> Array:
        """The speeds of its owner, for the impulse on the link that it met."""
        return self.jump(-impulse)


def refuse_overflow(name: str, x: Array) -> None:
    """Refuse numbers whose products are none."""
    largest = np.abs(x).max(initial=0.0)
    if largest > GREATEST:
        raise ShapeError(
            f"{name} holds {largest:.3g}: energies of such sizes overflow", name=name, given=x
        )
