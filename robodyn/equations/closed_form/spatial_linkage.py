"""Spatial loops in closed form that close in a point: legs of hexapods, tie rods, rods.

The closure is ``h = p_successor - p_predecessor = 0`` where a ball closes the loop, three
equations; or ``h = (|p_successor - p_predecessor|^2 - d^2) / 2 = 0`` where a rod of length d does,
one equation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from robodyn.equations.closed_form.folding import Fold
from robodyn.equations.closed_form.linkage import Freedom, Linkage, Places, Posture
from robodyn.equations.closed_form.spatial_chain import (
    Frame,
    Piece,
    Rates,
    Screw,
    SpatialChain,
    close_point,
    close_rod,
    pieces_of,
    screws_of,
)
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import Vec3

Postures = Mapping[int, Posture]
Speeds = Mapping[Freedom, Number]


@dataclass(frozen=True, eq=False)
class _PointLinkage(Linkage):
    """A loop that closes in a point."""

    predecessor: SpatialChain = field(kw_only=True)
    successor: SpatialChain = field(kw_only=True)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        chains = (self.predecessor, self.successor)
        return tuple(link.body for chain in chains for link in chain.links)

    def _parts(self, known: Postures) -> tuple[list[Piece], list[Piece]]:
        one, other = self.predecessor, self.successor
        return pieces_of(one, self.dependent, known), pieces_of(other, self.dependent, known)

    def _sides(self, postures: Postures, rates: Rates) -> list[tuple[float, list[Screw], Frame]]:
        return [
            (side, *screws_of(chain, postures, rates))
            for side, chain in ((-1.0, self.predecessor), (1.0, self.successor))
        ]

    def _gap(self, postures: Postures, rates: Rates) -> tuple[Vec3, Vec3, Vec3]:
        """From the predecessor's point to the successor's, with its derivatives."""
        (_, _, one), (_, _, other) = self._sides(postures, rates)
        return other.p - one.p, other.v - one.v, other.a - one.a

    def _gap_slopes(self, postures: Postures) -> dict[Freedom, Vec3]:
        """Velocity of the gap per unit of each speed."""
        sides = self._sides(postures, Rates())
        return {s.freedom: s.slope(end) * side for side, screws, end in sides for s in screws}

    def _gap_slope_rates(self, postures: Postures, rates: Rates) -> dict[Freedom, Vec3]:
        sides = self._sides(postures, rates)
        return {s.freedom: s.slope_rate(end) * side for side, screws, end in sides for s in screws}


@dataclass(frozen=True, eq=False)
class BallLinkage(_PointLinkage):
    """A loop closed by a ball: two intersecting axes, and one more axis, are dependent.

    hinges: The two that meet, one after the other in their chain.
    centre: Where on each axis they meet, from its origin [m].
    """

    hinges: tuple[Freedom, Freedom] = field(kw_only=True)
    centre: tuple[float, float] = (0.0, 0.0)

    @property
    def branches(self) -> tuple[int, ...]:
        """+1 or -1 as the third axis reaches the length; doubled: the two point the other way."""
        return 1, -1, 2, -2

    def close(self, known: Postures) -> dict[int, Places]:
        """Places of the dependent joints."""
        one, other = self._parts(known)
        signs = (1.0 if self.branch > 0 else -1.0, -1.0 if abs(self.branch) == 1 else 1.0)
        found = close_point(one, other, self.hinges, self.centre, signs)
        return {
            i: tuple(place for (body, _), place in sorted(found.items()) if body == i)
            for i in self.dependent
        }

    def slopes(self, postures: Postures) -> dict[Freedom, Vec3]:
        """Columns of the Jacobian of ``h``."""
        return self._gap_slopes(postures)

    def slope_rates(self, postures: Postures, speeds: Speeds) -> dict[Freedom, Vec3]:
        """Rates of those columns."""
        return self._gap_slope_rates(postures, Rates(speeds))

    def bend(self, postures: Postures, speeds: Speeds, accelerations: Speeds) -> Vec3:
        """Second derivative of ``h``."""
        return self._gap(postures, Rates(speeds, accelerations))[2]

    def solver(
        self, slopes: Mapping[Freedom, Vec3], own: Sequence[Freedom]
    ) -> Callable[[Vec3], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        a, b, c = (slopes[freedom] for freedom in own)
        across = b.cross(c)
        inverse = -1.0 / a.dot(across)
        rows = [row * inverse for row in (across, c.cross(a), a.cross(b))]
        return lambda h: tuple(row.dot(h) for row in rows)


@dataclass(frozen=True, eq=False)
class RodLinkage(_PointLinkage):
    """A loop closed by a rod of given length between two points: one axis is dependent.

    length [m]
    planar: Of a loop whose joints turn about parallel axes: how it can lie flat and go through.
    """

    length: float = field(kw_only=True)
    planar: Fold | None = field(default=None, kw_only=True)

    @property
    def fold(self) -> Fold | None:
        """How the loop can lie flat and go through."""
        return self.planar

    def close(self, known: Postures) -> dict[int, Places]:
        """Places of the dependent joints."""
        place = close_rod(*self._parts(known), self.length, float(self.branch))
        return {self.dependent[0]: (place,)}

    def slopes(self, postures: Postures) -> dict[Freedom, Number]:
        """Columns of the Jacobian of ``h``."""
        gap = self._gap(postures, Rates())[0]
        return {f: gap.dot(slope) for f, slope in self._gap_slopes(postures).items()}

    def slope_rates(self, postures: Postures, speeds: Speeds) -> dict[Freedom, Number]:
        """Rates of those columns."""
        rates = Rates(speeds)
        gap, velocity, _ = self._gap(postures, rates)
        slopes, bent = self._gap_slopes(postures), self._gap_slope_rates(postures, rates)
        return {f: velocity.dot(slopes[f]) + gap.dot(bent[f]) for f in slopes}

    def bend(self, postures: Postures, speeds: Speeds, accelerations: Speeds) -> Number:
        """Second derivative of ``h``."""
        gap, velocity, acceleration = self._gap(postures, Rates(speeds, accelerations))
        return velocity.dot(velocity) + gap.dot(acceleration)

    def solver(
        self, slopes: Mapping[Freedom, Number], own: Sequence[Freedom]
    ) -> Callable[[Number], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        inverse = -1.0 / slopes[own[0]]
        return lambda h: (h * inverse,)
