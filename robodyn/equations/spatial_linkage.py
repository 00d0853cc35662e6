"""Spatial loops in closed form that close in a point: legs of hexapods, tie rods, rods.

The closure is ``h = p_successor - p_predecessor = 0`` where a ball closes the loop, three
equations; or ``h = (|p_successor - p_predecessor|^2 - d^2) / 2 = 0`` where a rod of length d does,
one equation. All is seen from the body where the two chains part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.joints import TURNING, JointGeometry
from robodyn.equations.linkage import Freedom, Linkage, Places, Posture
from robodyn.equations.rods import Piece, Unknown, close_point, close_rod
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EZ, ZERO3, Vec3

__all__ = ["BallLinkage", "RodLinkage", "SpatialChain", "SpatialLink", "axes_of"]

Postures = Mapping[int, Posture]
Speeds = Mapping[Freedom, Number]


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


def _pieces(chain: SpatialChain, unknown: Sequence[int], known: Postures) -> list[Piece]:
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
    """A frame on its way along a chain, and its motion, in the axes of the first body."""

    p: Vec3 = ZERO3
    R: Rotation = field(default_factory=Rotation)
    v: Vec3 = ZERO3
    w: Vec3 = ZERO3
    a: Vec3 = ZERO3
    dw: Vec3 = ZERO3

    def carry(self, X: Placement) -> None:
        """On to a frame that is fixed at ``X``."""
        arm = self.R * X.p
        self.p, self.R = self.p + arm, self.R @ X.R
        turned = self.w.cross(arm)
        self.v, self.a = self.v + turned, self.a + self.dw.cross(arm) + self.w.cross(turned)

    def move(self, v: Vec3, w: Vec3, dv: Vec3, dw: Vec3) -> None:
        """Add a motion seen from this frame, whose components have the rates ``dv`` and ``dw``."""
        self.a = self.a + dv + self.w.cross(v) * 2.0
        self.dw = self.dw + dw + self.w.cross(w)
        self.v, self.w = self.v + v, self.w + w


@dataclass(frozen=True, eq=False)
class _Rates:
    """Speeds and accelerations of freedoms, zero where not told."""

    speeds: Mapping[Freedom, Number] = field(default_factory=dict)
    accelerations: Mapping[Freedom, Number] = field(default_factory=dict)

    def of(self, freedom: Freedom) -> tuple[Number, Number]:
        return self.speeds.get(freedom, 0.0), self.accelerations.get(freedom, 0.0)


def _screws(chain: SpatialChain, postures: Postures, rates: _Rates) -> tuple[list[_Screw], _Frame]:
    """All freedoms of a chain, and its end."""
    at, found = _Frame(), []
    for link in chain.links:
        axes, after = axes_of(link)
        if axes:
            found += [_along_axis(at, axis, postures[link.body], rates) for axis in axes]
            at.carry(after)
        else:
            found += _along_joint(at, link.body, postures[link.body], rates)
    at.carry(Placement(p=chain.tail))
    return found, at


def _along_axis(at: _Frame, axis: Axis, posture: Posture, rates: _Rates) -> _Screw:
    """The next turn or slide; ``at`` moves on."""
    at.carry(axis.before)
    joint = axis.joint
    place, z = posture.places[joint.freedom[1]], at.R * (EZ * joint.sign)
    speed, acceleration = rates.of(joint.freedom)
    moved = z * speed, ZERO3, z * acceleration, ZERO3
    if joint.turning:
        screw = _Screw(joint.freedom, at.p, z, ZERO3, at.v, at.w.cross(z))
        at.R = at.R @ Rotation((2, place.x, place.y * joint.sign))
        at.move(moved[1], moved[0], moved[3], moved[2])
    else:
        screw = _Screw(joint.freedom, at.p, ZERO3, z, at.v, along_rate=at.w.cross(z))
        at.carry(Placement(p=EZ * (place.x * joint.sign)))
        at.move(*moved)
    return screw


def _along_joint(at: _Frame, body: int, posture: Posture, rates: _Rates) -> list[_Screw]:
    """Freedoms of a joint by its motion subspace; ``at`` moves on."""
    at.carry(posture.joint.X)
    # multiplied out: many vectors are turned
    R = at.R = Rotation(at.R.matrix)
    turned = [(R * s.v, R * s.w) for s in posture.joint.S]
    rest = [(R * ds.v, R * ds.w) for ds in posture.joint.dS]
    v = w = dv = dw = ZERO3
    for n, ((along, axis), (bent, curled)) in enumerate(zip(turned, rest, strict=True)):
        speed, acceleration = rates.of((body, n))
        v, w = v + along * speed, w + axis * speed
        dv = dv + along * acceleration + bent * speed
        dw = dw + axis * acceleration + curled * speed
    at.move(v, w, dv + w.cross(v), dw)
    return [
        _Screw(
            (body, n), at.p, axis, along, at.v, at.w.cross(axis) + curled, at.w.cross(along) + bent
        )
        for n, ((along, axis), (bent, curled)) in enumerate(zip(turned, rest, strict=True))
    ]


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

    def _parts(self, known: Postures) -> tuple[list[Piece], list[Piece]]:
        one, other = self.predecessor, self.successor
        return _pieces(one, self.dependent, known), _pieces(other, self.dependent, known)

    def _sides(self, postures: Postures, rates: _Rates) -> list[tuple[float, list[_Screw], _Frame]]:
        return [
            (side, *_screws(chain, postures, rates))
            for side, chain in ((-1.0, self.predecessor), (1.0, self.successor))
        ]

    def _gap(self, postures: Postures, rates: _Rates) -> tuple[Vec3, Vec3, Vec3]:
        """From the predecessor's point to the successor's, with its derivatives."""
        (_, _, one), (_, _, other) = self._sides(postures, rates)
        return other.p - one.p, other.v - one.v, other.a - one.a

    def _point_slopes(self, postures: Postures) -> dict[Freedom, Vec3]:
        """Velocity of the gap a unit of each speed."""
        return {
            s.freedom: (s.along + s.axis.cross(end.p - s.origin)) * side
            for side, screws, end in self._sides(postures, _Rates())
            for s in screws
        }

    def _point_rates(self, postures: Postures, rates: _Rates) -> dict[Freedom, Vec3]:
        return {
            s.freedom: (
                s.along_rate
                + s.axis_rate.cross(end.p - s.origin)
                + s.axis.cross(end.v - s.origin_rate)
            )
            * side
            for side, screws, end in self._sides(postures, rates)
            for s in screws
        }


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
        return self._point_slopes(postures)

    def slope_rates(self, postures: Postures, speeds: Speeds) -> dict[Freedom, Vec3]:
        """Rates of those columns."""
        return self._point_rates(postures, _Rates(speeds))

    def bend(self, postures: Postures, speeds: Speeds, accelerations: Speeds) -> Vec3:
        """Second derivative of ``h``."""
        return self._gap(postures, _Rates(speeds, accelerations))[2]

    def solver(self, columns: Sequence[Vec3]) -> Callable[[Vec3], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        a, b, c = columns
        across = b.cross(c)
        inverse = -1.0 / a.dot(across)
        rows = [row * inverse for row in (across, c.cross(a), a.cross(b))]
        return lambda h: tuple(row.dot(h) for row in rows)


@dataclass(frozen=True, eq=False)
class RodLinkage(_SpatialLinkage):
    """A loop closed by a rod of given length between two points: one axis follows.

    Attributes
    ----------
    length : float [m]
    """

    length: float = field(kw_only=True)

    def close(self, known: Postures) -> dict[int, Places]:
        """Places of the dependent joints."""
        place = close_rod(*self._parts(known), self.length, float(self.branch))
        return {self.dependent[0]: (place,)}

    def slopes(self, postures: Postures) -> dict[Freedom, Number]:
        """Columns of the Jacobian of ``h``."""
        gap = self._gap(postures, _Rates())[0]
        return {f: gap.dot(slope) for f, slope in self._point_slopes(postures).items()}

    def slope_rates(self, postures: Postures, speeds: Speeds) -> dict[Freedom, Number]:
        """Rates of those columns."""
        rates = _Rates(speeds)
        gap, velocity, _ = self._gap(postures, rates)
        slopes, bent = self._point_slopes(postures), self._point_rates(postures, rates)
        return {f: velocity.dot(slopes[f]) + gap.dot(bent[f]) for f in slopes}

    def bend(self, postures: Postures, speeds: Speeds, accelerations: Speeds) -> Number:
        """Second derivative of ``h``."""
        gap, velocity, acceleration = self._gap(postures, _Rates(speeds, accelerations))
        return velocity.dot(velocity) + gap.dot(acceleration)

    def solver(self, columns: Sequence[Number]) -> Callable[[Number], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        inverse = -1.0 / columns[0]
        return lambda h: (h * inverse,)
