"""Planar loops in closed form: two joints of a loop as functions of the others.

A loop is a vector polygon in a plane that is fixed in the body where its two chains part. Its
closure, ``h = p_successor - p_predecessor = 0``, is two equations. With all other joints known,
what is left is a triangle: of two sides that turn, or of one that turns and one that slides, or of
two that slide. Only cosine and sine of an angle are needed, never the angle itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.closed_form.linkage import Freedom, Linkage, Places, Posture
from robodyn.equations.closed_form.triangle import Piece, UnknownJoint, close
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number

__all__ = ["Chain", "Link", "PlanarLinkage"]


@dataclass(frozen=True, eq=False)
class Link:
    """A body of a chain and the joint that moves it.

    Attributes
    ----------
    body : int
    r : Planar
        Origin of the body seen from that of its parent, in the parent's planar axes, at zero.
    turning : bool
        The joint turns; else it slides.
    direction : Planar
        Turning: (1, 1) about the normal, (1, -1) about its opposite. Sliding: unit vector, in the
        parent's planar axes.
    """

    body: int
    r: Planar
    turning: bool
    direction: Planar

    def own(self, turn: Planar) -> Planar:
        """A turn about the normal as the joint has it, or the other way round."""
        return Planar(turn.x, turn.y * self.direction.y)


@dataclass(frozen=True, eq=False)
class Chain:
    """Links from the body where the chains part to a point of the last body.

    Attributes
    ----------
    links : tuple of Link
    tail : Planar
        The point, in the last body's planar axes.
    """

    links: tuple[Link, ...]
    tail: Planar


@dataclass(frozen=True, eq=False)
class PlanarLinkage(Linkage):
    """A planar loop and the two of its joints that follow the others.

    Attributes
    ----------
    predecessor, successor : Chain
    """

    predecessor: Chain = field(kw_only=True)
    successor: Chain = field(kw_only=True)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        chains = (self.predecessor, self.successor)
        return tuple(link.body for chain in chains for link in chain.links)

    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Places of the dependent joints."""
        one, other = (
            _pieces(chain, self.dependent, known) for chain in (self.predecessor, self.successor)
        )
        found = close(one, other, float(self.branch))
        return {i: (found[i],) for i in self.dependent}

    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Planar]:
        """Columns of the Jacobian of ``h``."""
        slopes = {}
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            walked, end = _walk(chain, postures)
            for link, p, R in walked:
                if link.turning:
                    slope = (end - p).left * (link.direction.y * side)
                else:
                    slope = (R @ link.direction) * side
                slopes[link.body, 0] = slope
        return slopes

    def slope_rates(
        self, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
    ) -> dict[Freedom, Planar]:
        """Rates of those columns."""
        rates = {}
        for chain, side in ((self.predecessor, -1.0), (self.successor, 1.0)):
            for link, rate in _rates(chain, postures, speeds):
                rates[link.body, 0] = rate * side
        return rates

    def solver(
        self, slopes: Mapping[Freedom, Planar], own: Sequence[Freedom]
    ) -> Callable[[Planar], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function."""
        a, b = (slopes[freedom] for freedom in own)
        inverse = 1.0 / a.cross(b)
        return lambda h: (b.cross(h) * inverse, h.cross(a) * inverse)


def _pieces(chain: Chain, unknown: Sequence[int], known: Mapping[int, Posture]) -> list[Piece]:
    """Rigid parts between unknown joints, each in the axes that its first joint leaves."""
    pieces = []
    p, R = Planar(), Planar(1.0)
    for link in chain.links:
        p = p + R @ link.r
        if link.body in unknown:
            joint = UnknownJoint(link.body, link.turning, link.direction)
            pieces.append(Piece(p, R, joint))
            p, R = Planar(), Planar(1.0)
        elif link.turning:
            R = R @ link.own(known[link.body].places[0])
        else:
            p = p + (R @ link.direction) * known[link.body].places[0].x
    return [*pieces, Piece(p + R @ chain.tail, R, None)]


def _walk(
    chain: Chain, postures: Mapping[int, Posture]
) -> tuple[list[tuple[Link, Planar, Planar]], Planar]:
    """Origin of each body at zero of its joint and axes of its parent; the chain's end."""
    walked = []
    p, R = Planar(), Planar(1.0)
    for link in chain.links:
        p = p + R @ link.r
        walked.append((link, p, R))
        if link.turning:
            R = R @ link.own(postures[link.body].places[0])
        else:
            p = p + (R @ link.direction) * postures[link.body].places[0].x
    return walked, p + R @ chain.tail


def _rates(
    chain: Chain, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
) -> list[tuple[Link, Planar]]:
    """Rate of the velocity of the chain's end a unit of each speed."""
    walked, end = _walk(chain, postures)
    moving: list[tuple[Link, Planar, Planar]] = []
    w: Number = 0.0
    velocity, last = Planar(), Planar()
    for link, p, R in walked:
        velocity = velocity + (p - last).left * w
        last = p
        if link.turning:
            moving.append((link, velocity, Planar()))
            w = w + speeds[link.body, 0] * link.direction.y
        else:
            along = R @ link.direction
            moving.append((link, velocity, along.left * w))
            velocity = velocity + along * speeds[link.body, 0]
    velocity = velocity + (end - last).left * w
    return [
        (link, (velocity - own).left * link.direction.y if link.turning else turning)
        for link, own, turning in moving
    ]
