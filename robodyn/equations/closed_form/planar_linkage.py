"""Planar loops in closed form: two joints of a loop as functions of the others.

A loop is a vector polygon in a plane that is fixed in the body where its two chains part. Its
closure, ``h = p_successor - p_predecessor = 0``, is two equations. With all other joints known,
what is left is a triangle: of two sides that turn, or of one that turns and one that slides, or of
two that slide. Only cosine and sine of an angle are needed, never the angle itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from robodyn.equations.closed_form.folding import Fold, Sum, Turns, fold_of_sides
from robodyn.equations.closed_form.linkage import TIME, Freedom, Linkage, Places, Posture
from robodyn.equations.closed_form.triangle import Piece, Triangle, UnknownJoint, triangle
from robodyn.joints.common.kind import JointState
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, Scalar, by_precision, if_not_negative
from robodyn.symbolic.spatial import Twist
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import FLAT, FLAT_SMOOTH


@dataclass(frozen=True, eq=False)
class Carried:
    """A body whose pose in its parent is a given function that stays in the plane.

    parent, own: Planar axes and the normal, in the axes of the parent and of the body.
    """

    parent: tuple[Vec3, Vec3, Vec3]
    own: tuple[Vec3, Vec3, Vec3]

    def pose(self, joint: JointState) -> tuple[Planar, Planar]:
        """Position and rotation in the parent's planar axes."""
        x, y, _ = self.parent
        ahead = joint.X.R * self.own[0]
        return Planar(x.dot(joint.X.p), y.dot(joint.X.p)), Planar(x.dot(ahead), y.dot(ahead))

    def motions(self, joint: JointState) -> list[tuple[int, Move, Move]]:
        """For each freedom, and for time: motion per unit of its speed, and its rate."""
        columns = [*zip(range(len(joint.S)), joint.S, joint.dS, strict=True)]
        columns += [(TIME, joint.drift.V, joint.drift.rate)] if joint.drift else []
        return [(n, self._planar(s), self._planar(ds)) for n, s, ds in columns]

    def _planar(self, s: Twist) -> Move:
        x, y, normal = self.own
        return Planar(x.dot(s.v), y.dot(s.v)), normal.dot(s.w)


#: Velocity in planar axes, and turning speed about the normal.
Move = tuple[Planar, Number]


@dataclass(frozen=True, eq=False)
class Link:
    """A body of a chain and the joint that moves it.

    Attributes
    ----------
    r : Planar
        Origin of the body seen from that of its parent, in the parent's planar axes, at zero.
    turning : bool
        The joint turns; else it slides.
    direction : Planar
        Turning: (1, 1) about the normal, (1, -1) about its opposite. Sliding: unit vector, in the
        parent's planar axes.
    carried : Carried or None
        Of a joint that moves in the plane in its own way, which no other can follow: in place of
        all the others.
    """

    body: int
    r: Planar = Planar()
    turning: bool = False
    direction: Planar = Planar()
    carried: Carried | None = None

    def own(self, turn: Planar) -> Planar:
        """A turn about the normal, with the sign of the joint's axis."""
        return Planar(turn.x, turn.y * self.direction.y)


@dataclass(frozen=True, eq=False)
class Chain:
    """Links from the body where the chains part to a point of the last body.

    tail: The point, in the last body's planar axes.
    """

    links: tuple[Link, ...]
    tail: Planar


@dataclass(frozen=True, eq=False)
class PlanarLinkage(Linkage):
    """A planar loop and its two dependent joints.

    turned: Of a loop with a smooth `Fold`: the sign of ``fold.across`` at the posture at which the
        branch +1 is that to the left of the base of the triangle.
    """

    predecessor: Chain = field(kw_only=True)
    successor: Chain = field(kw_only=True)
    turned: int = field(default=1, kw_only=True)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        chains = (self.predecessor, self.successor)
        return tuple(link.body for chain in chains for link in chain.links)

    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Places of the dependent joints."""
        found = self._triangle(known).close(float(self.branch * self.turned))
        return {i: (found[i],) for i in self.dependent}

    @cached_property
    def fold(self) -> Fold | None:
        """How the loop can lie flat and go through; ``None`` if it cannot."""
        return self._triangle(None).fold

    @property
    def parallel(self) -> bool:
        """Whether one side of the triangle stays parallel to a vector of known joints."""
        smooth = self.fold is not None and self.fold.smooth and self.branch * self.turned > 0
        links = (*self.predecessor.links, *self.successor.links)
        return smooth and all(link.turning for link in links)

    def counted_from(self, postures: Mapping[int, Posture]) -> PlanarLinkage:
        """The loop with its branches as they are at a posture."""
        fold = self._triangle(postures).fold
        if fold is None or not fold.smooth:
            return self
        return replace(self, turned=-1 if float(fold.across) < 0.0 else 1)  # type: ignore[arg-type]

    def _triangle(self, known: Mapping[int, Posture] | None) -> Triangle:
        chains = (self.predecessor, self.successor)
        return triangle(*(_pieces(chain, self.dependent, known) for chain in chains))

    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Planar]:
        """Columns of the Jacobian of ``h``."""
        slopes = {}
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            walked, end = _walk(chain, postures)
            for step in walked:
                link = step.link
                if link.carried:
                    for n, (v, w), _ in link.carried.motions(postures[link.body].joint):
                        arm = (end - step.beyond).left * w
                        slopes[link.body, n] = (step.turned @ v + arm) * side
                elif link.turning:
                    slopes[link.body, 0] = (end - step.p).left * (link.direction.y * side)
                else:
                    slopes[link.body, 0] = (step.R @ link.direction) * side
        return slopes

    def slope_rates(
        self, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
    ) -> dict[Freedom, Planar]:
        """Rates of those columns."""
        rates = {}
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            for freedom, rate in _rates(chain, postures, speeds):
                rates[freedom] = rate * side
        return rates

    def solver(
        self, slopes: Mapping[Freedom, Planar], own: Sequence[Freedom]
    ) -> Callable[[Planar], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        a, b = (slopes[freedom] for freedom in own)
        inverse = 1.0 / self._regular(a.cross(b), a, b)
        return lambda h: (b.cross(h) * inverse, h.cross(a) * inverse)

    def _regular(self, area: Number, a: Planar, b: Planar) -> Number:
        """The determinant of two columns; not a number near flat postures beyond which it closes.

        There rounding decides on it, and on its sign.
        """
        if self.fold is None:
            return area
        double, single = FLAT_SMOOTH if self.fold.smooth else FLAT
        least: Number = double * double
        if isinstance(area, Scalar):
            least = by_precision(area.graph, double * double, single * single)
        return if_not_negative([area], area * area - a.squared * b.squared * least)[0]


def fold_with_rod(one: Chain, other: Chain, dependent: int, length: float) -> Fold | None:
    """How a planar loop can lie flat that a rod of some length [m] closes: it turns back there."""
    pieces = [_pieces(chain, (dependent,), None) for chain in (one, other)]
    arm, rest = pieces if len(pieces[0]) == 2 else pieces[::-1]
    rod = Sum.of((), Planar(length), Planar(length))
    fold = fold_of_sides(rest[0].end - arm[0].end, arm[1].end, rod)
    return None if fold is None else replace(fold, smooth=False)


def _pieces(
    chain: Chain, unknown: Sequence[int], known: Mapping[int, Posture] | None
) -> list[Piece]:
    """Rigid parts between unknown joints, each in the axes that its first joint leaves.

    Without postures all known joints are at zero.
    """
    pieces: list[Piece] = []
    end, R, turns = _START
    for link in chain.links:
        end = end + Sum.of(turns, link.r, R @ link.r)
        if link.body in unknown:
            joint = UnknownJoint(link.body, link.turning, link.direction)
            pieces.append(Piece(end, R, turns, joint))
            end, R, turns = _START
            continue
        beyond, R = (end.p, R) if known is None else _beyond(link, end.p, R, known)
        if link.turning:
            turns = (*turns, (link.body, float(link.direction.y)))  # type: ignore[arg-type]
        else:
            end = Sum(beyond)
    end = end + Sum.of(turns, chain.tail, R @ chain.tail)
    return [*pieces, Piece(end, R, turns, None)]


#: A vector of no length, no turn, and no joint.
_START: tuple[Sum, Planar, Turns] = Sum(parts={}), Planar(1.0), ()


def _beyond(
    link: Link, p: Planar, R: Planar, postures: Mapping[int, Posture]
) -> tuple[Planar, Planar]:
    """Origin and axes of a body, of those where its joint is at zero."""
    posture = postures[link.body]
    if link.carried:
        moved, turned = link.carried.pose(posture.joint)
        return p + R @ moved, R @ turned
    if link.turning:
        return p, R @ link.own(posture.places[0])
    return p + (R @ link.direction) * posture.places[0].x, R


@dataclass(frozen=True, eq=False)
class _Step:
    """A link on a walk along its chain.

    p, R: Origin of the body where its joint is at zero, and axes of its parent.
    beyond, turned: Origin and axes of the body.
    """

    link: Link
    p: Planar
    R: Planar
    beyond: Planar
    turned: Planar


def _walk(chain: Chain, postures: Mapping[int, Posture]) -> tuple[list[_Step], Planar]:
    """All links of a chain, and its end."""
    walked = []
    p, R = Planar(), Planar(1.0)
    for link in chain.links:
        p = p + R @ link.r
        beyond, turned = _beyond(link, p, R, postures)
        walked.append(_Step(link, p, R, beyond, turned))
        p, R = beyond, turned
    return walked, p + R @ chain.tail


def _rates(
    chain: Chain, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
) -> list[tuple[Freedom, Planar]]:
    """Rate of the velocity of the chain's end per unit of each speed."""
    walked, end = _walk(chain, postures)
    moving: list[_Moving] = []
    w: Number = 0.0
    velocity, last = Planar(), Planar()
    for step in walked:
        link, freedom = step.link, (step.link.body, 0)
        velocity = velocity + (step.p - last).left * w
        last = step.p
        if link.carried:
            moves = link.carried.motions(postures[link.body].joint)
            velocity, last = velocity + (step.beyond - last).left * w, step.beyond
            for n, (v, turn), _ in moves:
                speed = speeds[link.body, n]
                velocity, w = velocity + (step.turned @ v) * speed, w + turn * speed
            for n, (v, turn), (dv, dturn) in moves:
                bent = (step.turned @ v).left * w + step.turned @ dv
                moving.append(_Moving((link.body, n), last, velocity, turn, bent, dturn))
        elif link.turning:
            moving.append(_Moving(freedom, last, velocity, link.direction.y))
            w = w + speeds[freedom] * link.direction.y
        else:
            along = step.R @ link.direction
            moving.append(_Moving(freedom, last, velocity, 0.0, along.left * w))
            velocity = velocity + along * speeds[freedom]
    velocity = velocity + (end - last).left * w
    return [(x.freedom, x.rate(end, velocity)) for x in moving]


@dataclass(frozen=True, eq=False)
class _Moving:
    """How a freedom moves the end of its chain: ``along + (end - origin).left * turn``.

    bent: Rate of ``along``.
    """

    freedom: Freedom
    origin: Planar
    velocity: Planar
    turn: Number
    bent: Planar = Planar()
    turn_rate: Number = 0.0

    def rate(self, end: Planar, velocity: Planar) -> Planar:
        """Rate of that velocity, for an end that moves."""
        turning = (velocity - self.velocity).left * self.turn
        return turning + self.bent + (end - self.origin).left * self.turn_rate
