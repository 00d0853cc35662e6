"""Planar loops in closed form: two joints of a loop as functions of the others.

A loop is a vector polygon in a plane that is fixed in the body where its two chains part. Its
closure, ``h = p_successor - p_predecessor = 0``, is two equations. With all other joints known,
what is left is a triangle: of two sides that turn, or of one that turns and one that slides, or of
two that slide. Only cosine and sine of an angle are needed, never the angle itself.

Rates of the two dependent joints come from h alone, never from the triangle [PyMbs 9, 10]::

    v_dep = B v     B = -h_dep^-1 h_known     a_dep = B a + b'     b' = -h_dep^-1 (dh/dt) v

with ``v`` the independent speeds and ``h_..`` the columns of the Jacobian of h.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.triangle import Piece, Unknown, close
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number

__all__ = ["Chain", "JointMotion", "Link", "Linkage", "motions", "postures"]


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
class Linkage:
    """A loop and the two of its joints that follow the others.

    Attributes
    ----------
    name : str
        Of the joint that closes the loop.
    predecessor, successor : Chain
    dependent : tuple of (int, int)
        Bodies whose joints follow.
    branch : int
        +1 or -1: which of the two ways to assemble the triangle.
    """

    name: str
    predecessor: Chain
    successor: Chain
    dependent: tuple[int, int]
    branch: int = 1

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        return tuple(link.body for chain in (self.predecessor, self.successor)
                     for link in chain.links)  # fmt: skip


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Posture and motion of one joint of a loop.

    Attributes
    ----------
    place : Planar
        Cosine and sine of the angle of the equations (offset included), or displacement and zero.
    v, c : Number
        Its speed, and what its acceleration is when those of the independent speeds are zero.
    columns, rates : dict of v index to Number
        Its speed a unit of an independent one, and the rate of that.
    """

    place: Planar
    v: Number = 0.0
    c: Number = 0.0
    columns: Mapping[int, Number] = field(default_factory=dict)
    rates: Mapping[int, Number] = field(default_factory=dict)


Places = Mapping[int, Planar]
Motions = Mapping[int, JointMotion]


def postures(linkage: Linkage, known: Places) -> tuple[Planar, Planar]:
    """Places of the two dependent joints, given those of the others."""
    one, other = (
        _pieces(chain, linkage.dependent, known)
        for chain in (linkage.predecessor, linkage.successor)
    )
    found = close(one, other, float(linkage.branch))
    a, b = (found[body] for body in linkage.dependent)
    return a, b


def _pieces(chain: Chain, unknown: Sequence[int], known: Places) -> list[Piece]:
    """Rigid parts between unknown joints, each in the axes that its first joint leaves."""
    pieces = []
    p, R = Planar(), Planar(1.0)
    for link in chain.links:
        p = p + R @ link.r
        if link.body in unknown:
            joint = Unknown(link.body, link.turning, link.direction)
            pieces.append(Piece(p, R, joint))
            p, R = Planar(), Planar(1.0)
        elif link.turning:
            R = R @ link.own(known[link.body])
        else:
            p = p + (R @ link.direction) * known[link.body].x
    return [*pieces, Piece(p + R @ chain.tail, R, None)]


def motions(linkage: Linkage, known: Motions, v: Sequence[Number]) -> dict[int, JointMotion]:
    """Places, speeds and rates of the two dependent joints.

    Parameters
    ----------
    linkage : Linkage
    known : mapping of body to JointMotion
        Of the loop's other joints.
    v : sequence of nv numbers
    """
    pair = linkage.dependent
    places = {i: motion.place for i, motion in known.items()}
    places |= dict(zip(pair, postures(linkage, places), strict=True))
    J = _slopes(linkage, places)
    solve = _Inverse(J[pair[0]], J[pair[1]])
    masters = sorted({k for motion in known.values() for k in motion.columns})
    B = {k: solve(_weighted(J, _column(known, k))) for k in masters}
    speeds = {i: motion.v for i, motion in known.items()}
    speeds |= {i: sum((B[k][n] * v[k] for k in masters), 0.0) for n, i in enumerate(pair)}
    dJ = _slope_rates(linkage, places, speeds)
    drift = {i: motion.c for i, motion in known.items()}
    bias = solve(_weighted(dJ, speeds) + _weighted(J, drift))
    dB = {}
    for k in masters:
        column = {**_column(known, k), **dict(zip(pair, B[k], strict=True))}
        rate = {i: motion.rates[k] for i, motion in known.items() if k in motion.rates}
        dB[k] = solve(_weighted(dJ, column) + _weighted(J, rate))
    return {
        body: JointMotion(
            places[body],
            speeds[body],
            bias[n],
            {k: B[k][n] for k in masters},
            {k: dB[k][n] for k in masters},
        )
        for n, body in enumerate(pair)
    }


def _column(known: Motions, k: int) -> dict[int, Number]:
    """Speeds of the known joints a unit of ``v[k]``."""
    return {i: motion.columns[k] for i, motion in known.items() if k in motion.columns}


def _weighted(columns: Mapping[int, Planar], weights: Mapping[int, Number]) -> Planar:
    return sum((columns[i] * x for i, x in weights.items()), Planar())


class _Inverse:
    """``-[a b]^-1`` of two columns."""

    def __init__(self, a: Planar, b: Planar) -> None:
        self.a, self.b = a, b
        self.inverse = 1.0 / a.cross(b)

    def __call__(self, h: Planar) -> tuple[Number, Number]:
        return self.b.cross(h) * self.inverse, h.cross(self.a) * self.inverse


def _walk(chain: Chain, places: Places) -> tuple[list[tuple[Link, Planar, Planar]], Planar]:
    """Origin of each body at zero of its joint and axes of its parent; the chain's end."""
    walked = []
    p, R = Planar(), Planar(1.0)
    for link in chain.links:
        p = p + R @ link.r
        walked.append((link, p, R))
        if link.turning:
            R = R @ link.own(places[link.body])
        else:
            p = p + (R @ link.direction) * places[link.body].x
    return walked, p + R @ chain.tail


def _slopes(linkage: Linkage, places: Places) -> dict[int, Planar]:
    """Columns of the Jacobian of ``h``."""
    slopes = {}
    for chain, side in ((linkage.predecessor, -1.0), (linkage.successor, 1.0)):
        walked, end = _walk(chain, places)
        for link, p, R in walked:
            if link.turning:
                slopes[link.body] = (end - p).left * (link.direction.y * side)
            else:
                slopes[link.body] = (R @ link.direction) * side
    return slopes


def _slope_rates(
    linkage: Linkage, places: Places, speeds: Mapping[int, Number]
) -> dict[int, Planar]:
    """Rates of those columns."""
    rates = {}
    for chain, side in ((linkage.predecessor, -1.0), (linkage.successor, 1.0)):
        walked, end = _walk(chain, places)
        moving: list[tuple[Link, Planar, Planar]] = []
        w: Number = 0.0
        velocity, last = Planar(), Planar()
        for link, p, R in walked:
            velocity = velocity + (p - last).left * w
            last = p
            if link.turning:
                moving.append((link, velocity, Planar()))
                w = w + speeds[link.body] * link.direction.y
            else:
                along = R @ link.direction
                moving.append((link, velocity, along.left * w))
                velocity = velocity + along * speeds[link.body]
        velocity = velocity + (end - last).left * w
        for link, own, turning in moving:
            if link.turning:
                rates[link.body] = (velocity - own).left * (link.direction.y * side)
            else:
                rates[link.body] = turning * side
    return rates
