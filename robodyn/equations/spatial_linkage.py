"""Spatial loops in closed form that close in a point: legs of hexapods, tie rods, rods.

The closure is ``h = p_successor - p_predecessor = 0`` where a ball closes the loop, three
equations; or ``h = (|p_successor - p_predecessor|^2 - d^2) / 2 = 0`` where a rod of length d does,
one equation. All is seen from the body where the two chains part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.joints import TURNING, JointGeometry
from robodyn.equations.linkage import Freedom, Linkage, Places, Posture
from robodyn.equations.rods import Piece, Unknown, close_point, close_rod
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EZ, ZERO3, Vec3

__all__ = ["BallLinkage", "RodLinkage", "SpatialChain", "SpatialLink", "axes_of"]


@dataclass(frozen=True, eq=False)
class Axis:
    """A turn about z, or a slide along it, as a part of a joint.

    Attributes
    ----------
    before : Placement
        From the end of the part before it.
    joint : Unknown
    """

    before: Placement
    joint: Unknown


@dataclass(frozen=True, eq=False)
class SpatialLink:
    """A body of a chain and the joint that moves it."""

    body: int
    joint: JointGeometry


@dataclass(frozen=True, eq=False)
class SpatialChain:
    """Links from the body where the chains part to a point of the last body.

    Attributes
    ----------
    links : tuple of SpatialLink
    tail : Vec3
        The point, in the last body's frame.
    """

    links: tuple[SpatialLink, ...]
    tail: Vec3


def axes_of(link: SpatialLink) -> tuple[list[Axis], Placement]:
    """A joint as turns and slides, and the body's frame after the last.

    No axes where its freedoms are none of these.
    """
    joint, i = link.joint, link.body
    turning = TURNING.get(joint.kind, ())
    if joint.kind != "universal":
        before = [joint.X_PJ, Placement()]
        axes = [Axis(before[n], Unknown((i, n), turns)) for n, turns in enumerate(turning)]
        return axes, Placement()
    one, two = joint.R_J1, joint.R_J2
    if joint.reversed:
        return [
            Axis(joint.X_PJ @ Placement(two), Unknown((i, 1), True, -1.0)),
            Axis(Placement(two.T @ one), Unknown((i, 0), True, -1.0)),
        ], Placement(one.T)
    return [
        Axis(joint.X_PJ @ Placement(one), Unknown((i, 0), True)),
        Axis(Placement(one.T @ two), Unknown((i, 1), True)),
    ], Placement(two.T)


def _pieces(
    chain: SpatialChain, unknown: Sequence[int], known: Mapping[int, Posture]
) -> list[Piece]:
    """Rigid parts between unknown axes, each in the axes that its first one leaves."""
    pieces = []
    X = Placement()
    for link in chain.links:
        if link.body in unknown:
            axes, after = axes_of(link)
            for axis in axes:
                X = X @ axis.before
                pieces.append(Piece(X.p, X.R, axis.joint))
                X = Placement()
            X = X @ after
        else:
            X = X @ known[link.body].joint.X
    return [*pieces, Piece(X.R * chain.tail + X.p, X.R, None)]


@dataclass(frozen=True, eq=False)
class _Screw:
    """How a freedom moves what lies beyond it: ``along + axis x (r - origin)``; and the rates."""

    freedom: Freedom
    origin: Vec3
    axis: Vec3
    along: Vec3
    origin_rate: Vec3 = ZERO3
    axis_rate: Vec3 = ZERO3
    along_rate: Vec3 = ZERO3


@dataclass(eq=False)
class _Frame:
    """A frame on its way along a chain, with its velocities, in the axes of the first body."""

    p: Vec3 = ZERO3
    R: Rotation = field(default_factory=Rotation)
    velocity: Vec3 = ZERO3
    w: Vec3 = ZERO3

    def carry(self, X: Placement) -> None:
        """On to a frame that is fixed at ``X``."""
        arm = self.R * X.p
        self.p, self.R = self.p + arm, self.R @ X.R
        self.velocity = self.velocity + self.w.cross(arm)


Speeds = Mapping[Freedom, Number]


def _screws(
    chain: SpatialChain, postures: Mapping[int, Posture], speeds: Speeds
) -> tuple[list[_Screw], _Frame]:
    """All freedoms of a chain, and its end."""
    at, found = _Frame(), []
    for link in chain.links:
        axes, after = axes_of(link)
        if axes:
            found += [_along_axis(at, axis, postures[link.body], speeds) for axis in axes]
            at.carry(after)
        else:
            found += _along_joint(at, link.body, postures[link.body], speeds)
    at.carry(Placement(p=chain.tail))
    return found, at


def _along_axis(at: _Frame, axis: Axis, posture: Posture, speeds: Speeds) -> _Screw:
    """The next turn or slide; ``at`` moves on."""
    at.carry(axis.before)
    joint = axis.joint
    place, z = posture.places[joint.freedom[1]], at.R * (EZ * joint.sign)
    rate = at.w.cross(z)
    if joint.turning:
        screw = _Screw(joint.freedom, at.p, z, ZERO3, at.velocity, rate)
        at.R = at.R @ Rotation((2, place.x, place.y * joint.sign))
        at.w = at.w + z * speeds.get(joint.freedom, 0.0)
    else:
        screw = _Screw(joint.freedom, at.p, ZERO3, z, at.velocity, along_rate=rate)
        at.velocity = at.velocity + z * speeds.get(joint.freedom, 0.0)
        at.carry(Placement(p=EZ * (place.x * joint.sign)))
    return screw


def _along_joint(at: _Frame, body: int, posture: Posture, speeds: Speeds) -> Iterator[_Screw]:
    """Freedoms of a joint by its motion subspace; ``at`` moves on."""
    joint = posture.joint
    at.carry(joint.X)
    # multiplied out: many vectors are turned
    at.R = Rotation(at.R.matrix)
    R, w = at.R, at.w
    turned = [(R * s.w, R * s.v) for s in joint.S]
    own_w = own_v = ZERO3
    for n, (axis, along) in enumerate(turned):
        x = speeds.get((body, n), 0.0)
        own_w, own_v = own_w + axis * x, own_v + along * x
    at.w, at.velocity = w + own_w, at.velocity + own_v
    for n, ((axis, along), ds) in enumerate(zip(turned, joint.dS, strict=True)):
        yield _Screw(
            (body, n), at.p, axis, along, at.velocity,
            at.w.cross(axis) + R * ds.w, at.w.cross(along) + R * ds.v,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _SpatialLinkage(Linkage):
    """A loop that closes in a point.

    Attributes
    ----------
    predecessor, successor : SpatialChain
    """

    predecessor: SpatialChain = field(kw_only=True)
    successor: SpatialChain = field(kw_only=True)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        chains = (self.predecessor, self.successor)
        return tuple(link.body for chain in chains for link in chain.links)

    def _parts(self, known: Mapping[int, Posture]) -> tuple[list[Piece], list[Piece]]:
        one, other = self.predecessor, self.successor
        return _pieces(one, self.dependent, known), _pieces(other, self.dependent, known)

    def _point_slopes(self, postures: Mapping[int, Posture]) -> tuple[dict[Freedom, Vec3], Vec3]:
        """Velocity of the successor's point less that of the predecessor's; their difference."""
        slopes, gap = {}, ZERO3
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            screws, end = _screws(chain, postures, {})
            gap = gap + end.p * side
            for s in screws:
                slopes[s.freedom] = (s.along + s.axis.cross(end.p - s.origin)) * side
        return slopes, gap

    def _point_rates(
        self, postures: Mapping[int, Posture], speeds: Speeds
    ) -> tuple[dict[Freedom, Vec3], Vec3]:
        rates, gap = {}, ZERO3
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            screws, end = _screws(chain, postures, speeds)
            gap = gap + end.velocity * side
            for s in screws:
                turning = s.axis_rate.cross(end.p - s.origin)
                moving = s.axis.cross(end.velocity - s.origin_rate)
                rates[s.freedom] = (s.along_rate + turning + moving) * side
        return rates, gap


@dataclass(frozen=True, eq=False)
class BallLinkage(_SpatialLinkage):
    """A loop closed by a ball: two axes that meet, and one more axis, follow.

    Attributes
    ----------
    hinges : (freedom, freedom)
        The two that meet, one after the other in their chain.
    centre : (float, float)
        Where on each axis they meet, from its origin [m].
    """

    hinges: tuple[Freedom, Freedom] = field(kw_only=True)
    centre: tuple[float, float] = (0.0, 0.0)

    @property
    def branches(self) -> tuple[int, ...]:
        """+1 or -1 as the third axis reaches the length; doubled: the two point the other way."""
        return 1, -1, 2, -2

    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Places of the dependent joints."""
        one, other = self._parts(known)
        signs = (1.0 if self.branch > 0 else -1.0, -1.0 if abs(self.branch) == 1 else 1.0)
        found = close_point(one, other, self.hinges, self.centre, signs)
        return {
            i: tuple(place for (body, _), place in sorted(found.items()) if body == i)
            for i in self.dependent
        }

    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Vec3]:
        """Columns of the Jacobian of ``h``."""
        return self._point_slopes(postures)[0]

    def slope_rates(self, postures: Mapping[int, Posture], speeds: Speeds) -> dict[Freedom, Vec3]:
        """Rates of those columns."""
        return self._point_rates(postures, speeds)[0]

    def solver(self, columns: Sequence[Vec3]) -> Callable[[Vec3], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        a, b, c = columns
        rows = b.cross(c), c.cross(a), a.cross(b)
        inverse = -1.0 / a.dot(rows[0])
        return lambda h: tuple(row.dot(h) * inverse for row in rows)


@dataclass(frozen=True, eq=False)
class RodLinkage(_SpatialLinkage):
    """A loop closed by a rod of given length between two points: one axis follows.

    Attributes
    ----------
    length : float [m]
    """

    length: float = field(kw_only=True)

    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Places of the dependent joints."""
        place = close_rod(*self._parts(known), self.length, float(self.branch))
        return {self.dependent[0]: (place,)}

    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Number]:
        """Columns of the Jacobian of ``h``."""
        slopes, gap = self._point_slopes(postures)
        return {freedom: gap.dot(slope) for freedom, slope in slopes.items()}

    def slope_rates(self, postures: Mapping[int, Posture], speeds: Speeds) -> dict[Freedom, Number]:
        """Rates of those columns."""
        slopes, gap = self._point_slopes(postures)
        rates, gap_rate = self._point_rates(postures, speeds)
        return {f: gap_rate.dot(slopes[f]) + gap.dot(rates[f]) for f in slopes}

    def solver(self, columns: Sequence[Number]) -> Callable[[Number], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        inverse = -1.0 / columns[0]
        return lambda h: (h * inverse,)
