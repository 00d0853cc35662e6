"""The ground: a plane that resists points of links [Hunt, Crossley 1975]."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arguments import check_fields
from robodyn.arrays import mismatch, number, vector
from robodyn.errors import SettingsError
from robodyn.force_elements.common.link_element import PointMotion, Vector
from robodyn.symbolic.scalar import Number, maximum, sqrt, where
from robodyn.symbolic.vector import Vec3

#: Possible exponents of the elastic force.
EXPONENTS = (1.0, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True)
class Touch:
    """Contact of a point with the ground.

    depth [m]: Depth of the point below the plane; zero above it.
    slip [m/s]: Velocity along the plane, in world axes.
    force [N]: On the point, in world axes.
    """

    depth: Number
    slip: Vec3
    force: Vec3


@dataclass(frozen=True)
class Ground:
    """A compliant plane, fixed in the world, with friction.

    At a depth ``d`` it pushes a point out with the force ``stiffness d^exponent (1 + damping d')``,
    which is never negative, as the ground does not pull [Hunt and Crossley 1975]. Against the
    velocity ``u`` along the plane acts the friction ``friction u / sqrt(u^2 + friction_speed^2)``
    times that force: smoothed Coulomb friction, of which 70 % act at ``friction_speed``. A point
    that would stick creeps with less than that speed.

    Attributes
    ----------
    points : mapping of name to (link, point)
        Points that may touch the ground: names of contacts, each with a link and a point (3,) [m]
        in link axes.
    normal : (3,)
        Out of the ground, in world axes, of any length.
    height : float [m]
        Height of the plane above the origin of the world, along the normal.
    stiffness : float [N/m^exponent]
    exponent : float
        1: a linear spring. 1.5: contact of round bodies [Hertz]. Also 2, 2.5 and 3.
    damping : float [s/m]
        A point that meets the ground with the speed ``w`` leaves it with about
        ``(1 - 2/3 damping w) w``.
    friction : float
        Coefficient of friction.
    friction_speed : float [m/s]

    Raises
    ------
    SettingsError, ShapeError

    Examples
    --------
    >>> import robodyn as rd
    >>> points = {"tip": ("lower", (0, 0, -1))}
    >>> ground = rd.Ground(points, height=-1.9, stiffness=1e4, exponent=1)     # the tip: -2
    >>> robot = rd.load("double_pendulum", ground=ground)
    >>> float(robot.ground_contacts([0.0, 0.0], [0.0, 0.0])["tip"].depth.round(9))
    0.1
    """

    points: Mapping[str, tuple[str, Any]]
    normal: Vector = (0.0, 0.0, 1.0)
    height: float = 0.0
    stiffness: float = 1e5
    exponent: float = 1.5
    damping: float = 0.0
    friction: float = 0.0
    friction_speed: float = 0.01

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "points", _points(self.points))
        normal = np.array(vector("normal", self.normal))
        size = float(np.linalg.norm(normal))
        if not 0.0 < size < math.inf:
            raise SettingsError(f"normal is {self.normal!r}, expected a direction: not zero")
        object.__setattr__(self, "normal", tuple((normal / size).tolist()))
        for name, above_zero in (
            ("height", None),
            ("stiffness", True),
            ("exponent", True),
            ("damping", False),
            ("friction", False),
            ("friction_speed", True),
        ):
            value = number(name, getattr(self, name))
            low = -math.inf if above_zero is None else 0.0
            if not (low <= value < math.inf and (value or not above_zero)):
                kind = {None: "finite", True: "positive, finite", False: "finite, not negative"}
                raise SettingsError(f"{name} of the ground is {value}, expected {kind[above_zero]}")
            object.__setattr__(self, name, value)
        if self.exponent not in EXPONENTS:
            raise SettingsError(
                f"exponent of the ground is {self.exponent:g}, expected one of "
                f"{', '.join(f'{x:g}' for x in EXPONENTS)}"
            )

    @property
    def contacts(self) -> tuple[tuple[str, str, Vector], ...]:
        """Name, link and point of each contact."""
        return tuple((name, link, point) for name, (link, point) in self.points.items())

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        """Link and point of each contact."""
        return tuple((link, point) for _, link, point in self.contacts)

    @property
    def dissipates(self) -> bool:
        """Whether it has friction or damping."""
        return bool(self.damping or self.friction)

    def touch(self, at: PointMotion) -> Touch:
        """Depth, slip and force of one point."""
        normal, u = Vec3.of(self.normal), at.velocity
        rising = normal.dot(u)
        slip = u - normal * rising
        depth = self._depth(at)
        push = _power(depth, self.exponent) * self.stiffness
        if self.damping:
            push = push * maximum(1.0 - rising * self.damping, 0.0)
        force = normal * push
        if self.friction:
            speed = sqrt(slip.dot(slip) + self.friction_speed**2)
            force = force - slip * (push * self.friction / speed)
        return Touch(depth, slip, force)

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        """Normal and friction force on each point."""
        return [self.touch(x).force for x in at]

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """Elastic energy of the ground."""
        order = self.exponent + 1.0
        total: Number = 0.0
        for x in at:
            total = total + _power(self._depth(x), order) * (self.stiffness / order)
        return total

    def _depth(self, at: PointMotion) -> Number:
        depth: Number = maximum(self.height - Vec3.of(self.normal).dot(at.position), 0.0)
        return depth


def _power(depth: Number, exponent: float) -> Number:
    """Power of a depth; exponents are multiples of 1/2 from 1 on."""
    whole = int(exponent)
    result: Number = depth**whole
    return where(depth > 0.0, result * sqrt(depth), 0.0) if exponent > whole else result


@dataclass(frozen=True, eq=False, repr=False)
class _Points(Mapping[str, tuple[str, Vector]]):
    """Points by name, which stay what they are."""

    rows: tuple[tuple[str, tuple[str, Vector]], ...]

    def __getitem__(self, name: str) -> tuple[str, Vector]:
        return dict(self.rows)[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.rows == tuple(other.items())

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return repr(dict(self.rows))


def _points(given: Any) -> _Points:
    wrong = mismatch("points", given, "{name: (link, (x, y, z))}, one at least")
    try:
        rows = [(name, link, point) for name, (link, point) in dict(given).items()]
    except (TypeError, ValueError):
        raise wrong from None
    if not (rows and all(isinstance(name, str) for row in rows for name in row[:2])):
        raise wrong
    return _Points(tuple((name, (link, _place(name, point))) for name, link, point in rows))


def _place(name: str, given: Any) -> Vector:
    point = vector(f"points[{name!r}]", given)
    if not all(map(math.isfinite, point)):
        raise mismatch(f"points[{name!r}]", given, "finite numbers", "points")
    return point
