"""Triangles that close a spatial loop: lengths and directions, in closed form.

Going round a loop that closes in a ball, two axes that meet in a centre can point a body anywhere.
So the distance from the centre to the ball, seen from either side, gives the place of a third axis,
and the direction then gives those of the two. Where a triangle cannot close, the square root is of
a negative number; where a direction lies along an axis, zero is divided by zero: the result is not
a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.symbolic.plane import Planar
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import EZ, Vec3

Freedom = tuple[int, int]


@dataclass(frozen=True, eq=False)
class UnknownJoint:
    """An unknown rotation about z, or displacement along it.

    freedom: Body, and which freedom of its joint.
    sign: -1: the other way round.
    """

    freedom: Freedom
    turning: bool
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class Piece:
    """A rigid part of a chain.

    p, R: Its end in the axes at its beginning; axes at its end in those at its beginning.
    joint: At its end; ``None`` for the last piece, which ends where the loop closes.
    """

    p: Vec3
    R: Rotation
    joint: UnknownJoint | None


def close_rod(one: Sequence[Piece], other: Sequence[Piece], length: float, branch: float) -> Planar:
    """Place of the only unknown axis, so that the ends of two chains have a given distance."""
    chain, far = (one, other) if len(one) == 2 else (other, one)
    third, tail = chain
    start = third.R.inverse_times(third.p - far[0].p)
    return _own(third, _reach(third, start, tail.p, length * length, branch))


def close_point(
    one: Sequence[Piece],
    other: Sequence[Piece],
    hinges: tuple[Freedom, Freedom],
    centre: tuple[float, float],
    signs: tuple[float, float],
) -> dict[Freedom, Planar]:
    """Places of two axes that meet, and of a third one, so that the ends of two chains meet.

    hinges: The two axes that meet, one after the other in a chain.
    centre [m]: Where on each they meet.
    signs: +1 or -1: how the third axis reaches the length; which way round the two point.
    """
    chain, far = (one, other) if _index(one, hinges[0]) is not None else (other, one)
    k = _index(chain, hinges[0])
    assert k is not None
    a, b, tail = chain[k], chain[k + 1], chain[k + 2]
    C = a.p + a.R * (EZ * centre[0])
    start = tail.p - EZ * centre[1]
    if tail.joint is not None:  # the third axis lies beyond
        third, end = tail, a.R.inverse_times(far[0].p - C)
        m = third.R.inverse_times(start)
        place = _reach(third, m, chain[k + 3].p, end.dot(end), signs[0])
        start = third.R * (m + _moved(third, place, chain[k + 3].p))
    else:
        length = start.dot(start)
        if k:  # before
            third = chain[0]
            m = third.R.inverse_times(third.p - far[0].p)
            place = _reach(third, m, C, length, signs[0])
            end = a.R.inverse_times(_back(third, place, -m) - C)
        else:  # in the other chain
            third = far[0]
            m = third.R.inverse_times(third.p - C)
            place = _reach(third, m, far[1].p, length, signs[0])
            end = a.R.inverse_times(third.R * (m + _moved(third, place, far[1].p)))
    first, second = _pointed(b.R, start, end, signs[1])
    return {
        hinges[0]: _own(a, first),
        hinges[1]: _own(b, second),
        _freedom(third): _own(third, place),
    }


def _index(chain: Sequence[Piece], freedom: Freedom) -> int | None:
    return next((k for k, x in enumerate(chain) if x.joint and x.joint.freedom == freedom), None)


def _freedom(piece: Piece) -> Freedom:
    assert piece.joint is not None
    return piece.joint.freedom


def _turning(piece: Piece) -> bool:
    assert piece.joint is not None
    return piece.joint.turning


def _own(piece: Piece, place: Planar) -> Planar:
    """A place with the sign of the joint's axis."""
    assert piece.joint is not None
    if piece.joint.turning:
        return Planar(place.x, place.y * piece.joint.sign)
    return place * piece.joint.sign


def _moved(piece: Piece, place: Planar, r: Vec3) -> Vec3:
    """A point beyond an axis, seen from before it."""
    if _turning(piece):
        return Rotation((2, place.x, place.y)) * r
    return r + EZ * place.x


def _back(piece: Piece, place: Planar, r: Vec3) -> Vec3:
    """A point before an axis, seen from beyond it."""
    if _turning(piece):
        return Rotation((2, place.x, place.y)).inverse_times(r)
    return r - EZ * place.x


def _reach(piece: Piece, start: Vec3, r: Vec3, squared: Number, branch: float) -> Planar:
    """Place of an axis so that ``start`` and a point ``r`` beyond it add up to a given length."""
    if _turning(piece):
        rest = (squared - start.dot(start) - r.dot(r)) * 0.5 - start.z * r.z
        A = _flat(r).back @ _flat(start)
        n = A.squared
        return (A @ Planar(rest, sqrt(n - rest * rest) * branch)) * (1.0 / n)
    across, along = _flat(start + r), start.z + r.z
    return Planar(sqrt(squared - across.squared) * branch - along)


def _pointed(between: Rotation, start: Vec3, end: Vec3, branch: float) -> tuple[Planar, Planar]:
    """Turns about two axes that meet, which point ``start`` beyond both along ``end`` before both.

    The second turn ``t`` gives the component along the first axis n, which the first turn keeps:
    ``A . t = c``. What then is across, ``|A|^2 - c^2``, is written with ``|start| = |end|`` so that
    it keeps its digits where the direction comes near the first axis.
    """
    n = between.inverse_times(EZ)
    A, c = _flat(start).back @ _flat(n), end.z - n.z * start.z
    across = _flat(end).squared - start.z * start.z
    across = across + n.z * (2.0 * end.z * start.z - n.z * end.dot(end))
    second = (A @ Planar(c, sqrt(across) * branch)) * (1.0 / A.squared)
    reached = _flat(between * (Rotation((2, second.x, second.y)) * start))
    return (reached.back @ _flat(end)) * (1.0 / reached.squared), second


def _flat(r: Vec3) -> Planar:
    return Planar(r.x, r.y)
