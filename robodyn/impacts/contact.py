"""Contact of two bodies: points, and the impulse between them [W 6.3-6.14].

Impulses act on the first body along some axes: one, along which the bodies rebound without
friction, or three, along which they stick.

Two links of one robot meet as well, which is between the two only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import Array
from robodyn.arrays import finite, shaped
from robodyn.errors import ImpactError, SettingsError, ShapeError
from robodyn.tolerances import APPROACH_SPEED_ZERO, IMMOVABLE, LIGHTEST_PARTICLE, MOBILITY_ZERO

#: Axes in turn, by one and by two.
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a link.

    R (..., 3, 3): ``R_WL`` of the link.
    offset (..., 3) [m]: From the link's origin, in link axes.
    velocity (..., 3) [m/s]: In world axes.
    J (..., 3, nv): Of that velocity.
    """

    R: Array
    offset: Array
    velocity: Array
    J: Array

    @property
    def arm(self) -> Array:
        """From the link's origin, in world axes, shape (..., 3) [m]."""
        return np.asarray(np.einsum("...ij,...j->...i", self.R, self.offset))

    def wrench(self, impulse: Array) -> Array:
        """An impulse in world axes as a wrench on the link, shape (..., 6)."""
        force = np.einsum("...ji,...j->...i", self.R, impulse)
        return np.concatenate([force, _cross(self.offset, force)], axis=-1)


def contact_point(point: Array, X: Array, V: Array, J: Array) -> ContactPoint:
    """A point from the pose, twist and Jacobian of its link, the last two in world axes."""
    R = X[..., :3, :3]
    r = np.einsum("...ij,...j->...i", R, point)
    velocity = V[..., :3] + _cross(V[..., 3:], r)
    turning = _cross(np.swapaxes(J[..., 3:, :], -1, -2), r[..., None, :])
    return ContactPoint(R, np.array(point), velocity, J[..., :3, :] + np.swapaxes(turning, -1, -2))


def _cross(a: Array, b: Array) -> Array:
    """Products of vectors, shape (..., 3); numpy's takes ten times as long for one."""
    return np.asarray(a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT])


@dataclass(frozen=True, eq=False)
class Contact:
    """Two points in contact, and their mobility along some axes.

    points: Of the robot: one or two.
    axes (k, ..., 3): Along which impulses act on the first, in world axes.
    velocity (..., k) [m/s]: Of the first as seen from the other.
    speed_scale (...) [m/s]: What this velocity is the sum of.
    mobility (..., k, k) [1/kg]: Jump of this velocity a unit of impulse [W 6.9-6.14].
    mobility_scale (...) [1/kg]: At most what it were without constraints.
    jumps (k, ..., nv): Of speeds, a unit of impulse.
    """

    points: tuple[ContactPoint, ...]
    axes: Array
    velocity: Array
    speed_scale: Array
    mobility: Array
    mobility_scale: Array
    jumps: Array
    _modes: dict[str, Any] = field(default_factory=dict)

    def movable(self) -> Array:
        """Which principal directions are movable, shape (..., k), in the order of `_principal`."""
        sizes = self._principal()[0]
        least = np.maximum(MOBILITY_ZERO * sizes[..., -1], IMMOVABLE * self.mobility_scale)
        return np.asarray(sizes > least[..., None])

    def _principal(self) -> tuple[Array, Array]:
        """Mobilities in ascending order, shape (..., k), and their directions (..., k, k)."""
        if not self._modes:
            sizes, modes = np.linalg.eigh(self.mobility)
            self._modes.update(sizes=sizes, modes=modes)
        return self._modes["sizes"], self._modes["modes"]

    def check_approach(self, robot: str, link: str) -> None:
        """Refuse bodies that separate already, along the single axis."""
        leaving = self.velocity[..., 0] > APPROACH_SPEED_ZERO * self.speed_scale
        if np.any(leaving):
            rows, speed = _first(leaving, self.velocity[..., 0])
            raise ImpactError(
                f"link {link!r} of {robot!r} moves along the direction in which the impulse would "
                f"act on it, at {speed:.6g} m/s{_where(rows)}: what it is to hit is behind it. "
                "The direction points from the other body into the link",
                rows=rows,
            )

    def impulses(self, restitution: float, robot: str, link: str) -> Array:
        """Impulses along each axis, shape (..., k) [N s] [W 6.11-6.14].

        Raises ImpactError: If the velocity has to jump where nothing gives way.
        """
        sizes, modes = self._principal()
        moves = self.movable()
        wanted = -(1.0 + restitution) * np.einsum("...ki,...k->...i", modes, self.velocity)
        least = APPROACH_SPEED_ZERO * self.speed_scale[..., None]
        stuck = (~moves & (np.abs(wanted) > least)).any(axis=-1)
        if np.any(stuck):
            rows, speed = _first(stuck, np.linalg.norm(self.velocity, axis=-1))
            raise ImpactError(
                f"link {link!r} of {robot!r} meets an immovable body at {speed:.6g} m/s"
                f"{_where(rows)}, in a direction in which its joints, driven ones held, cannot "
                "give way: no finite impulse stops it",
                rows=rows,
            )
        along = np.where(moves, wanted / np.where(moves, sizes, 1.0), 0.0)
        return np.asarray(np.einsum("...ki,...i->...k", modes, along))

    def solved(self, rates: Array) -> Array:
        """Impulses for given jumps of the separation speeds, shapes (..., k, n)."""
        sizes, modes = self._principal()
        moves = self.movable()
        along = np.einsum("...ki,...kn->...in", modes, rates)
        along = along * np.where(moves, 1.0 / np.where(moves, sizes, 1.0), 0.0)[..., None]
        return np.asarray(np.einsum("...ki,...in->...kn", modes, along))

    def energy_loss(self, p: Array) -> Array:
        """Energy loss by impulses of this size, shape (...) [J]."""
        jump = np.einsum("...ij,...j->...i", self.mobility, p)
        loss = -0.5 * np.einsum("...k,...k->...", p, 2.0 * self.velocity + jump)
        return np.asarray(loss)


def _first(wrong: Array, values: Array) -> tuple[tuple[int, ...], float]:
    """Rows that are wrong, counted over the leading axes, and the value of the first."""
    rows = tuple(int(k) for k in np.flatnonzero(wrong))
    return (rows if np.ndim(wrong) else ()), float(np.ravel(values)[rows[0]])


def _where(rows: tuple[int, ...]) -> str:
    return f" (state {rows[0]} of the batch)" if rows else ""


def unit_direction(direction: ArrayLike) -> Array:
    """A direction of length one, shape (..., 3).

    Raises ShapeError: If it has another shape, is not finite, or is zero.
    """
    d = shaped("direction", direction, 3)
    finite(direction=d)
    largest = np.abs(d).max(axis=-1, keepdims=True)
    if not np.all(largest > 0.0):
        raise ShapeError(
            "direction is zero: it says along which the impulse acts", name="direction"
        )
    d = d / largest  # squares of the others may be too large or small for numbers
    return np.asarray(d / np.linalg.norm(d, axis=-1, keepdims=True))


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
