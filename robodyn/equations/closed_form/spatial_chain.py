"""Chains of a spatial loop: as rigid pieces between unknown axes, and how their ends move.

All is seen from the body where the two chains of the loop part.

Going round a loop that closes in a ball, two axes that meet in a centre can point a body anywhere.
So the distance from the centre to the ball, seen from either side, gives the place of a third axis,
and the direction then gives those of the two. Where a triangle cannot close, the square root is of
a negative number; where a direction lies along an axis, zero is divided by zero: the result is not
a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.closed_form.linkage import TIME, Freedom, Posture
from robodyn.joints.common.evaluate import parts_of
from robodyn.joints.common.kind import JointGeometry
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EZ, ZERO3, Rotation, Vec3


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


Postures = Mapping[int, Posture]


@dataclass(frozen=True, eq=False)
class _Axis:
    """A rotation about z, or a displacement along it, as a part of a joint.

    before: From the end of the part before it.
    """

    before: Placement
    joint: UnknownJoint


@dataclass(frozen=True, eq=False)
class SpatialLink:
    """A body of a chain and the joint that moves it."""

    body: int
    joint: JointGeometry


@dataclass(frozen=True, eq=False)
class SpatialChain:
    """Links from the body where the chains part to a point of the last body.

    tail: The point, in the last body's frame.
    """

    links: tuple[SpatialLink, ...]
    tail: Vec3


def _axes_of(link: SpatialLink) -> tuple[list[_Axis], Placement]:
    """A joint as rotations and displacements, and the body's frame after the last.

    No axes where its freedoms are none of these.
    """
    parts, after = parts_of(link.joint)
    return [
        _Axis(part.before, UnknownJoint((link.body, part.freedom), part.turning, part.sign))
        for part in parts
    ], after


def pieces_of(chain: SpatialChain, unknown: Sequence[int], known: Postures) -> list[Piece]:
    """Rigid parts between unknown axes, each in the axes that its first one leaves."""
    pieces = []
    X = Placement()
    for link in chain.links:
        if link.body in unknown:
            axes, after = _axes_of(link)
            for axis in axes:
                X = X @ axis.before
                pieces.append(Piece(X.p, X.R, axis.joint))
                X = Placement()
            X = X @ after
        else:
            X = X @ known[link.body].joint.X
    return [*pieces, Piece(X.R * chain.tail + X.p, X.R, None)]


@dataclass(eq=False)
class Frame:
    """A frame on its way along a chain, and its motion, in the axes of the first body."""

    p: Vec3 = ZERO3
    R: Rotation = field(default_factory=Rotation)
    v: Vec3 = ZERO3
    w: Vec3 = ZERO3
    a: Vec3 = ZERO3
    dw: Vec3 = ZERO3

    def carry(self, X: Placement) -> None:
        """Move on to a frame that is fixed at ``X``."""
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
class Screw:
    """Velocity of points beyond a freedom, ``along + axis x (r - origin)``, and its rate."""

    freedom: Freedom
    origin: Vec3
    axis: Vec3
    along: Vec3
    origin_rate: Vec3 = ZERO3
    axis_rate: Vec3 = ZERO3
    along_rate: Vec3 = ZERO3

    def slope(self, end: Frame) -> Vec3:
        """Velocity of a point beyond, per unit of speed."""
        return self.along + self.axis.cross(end.p - self.origin)

    def slope_rate(self, end: Frame) -> Vec3:
        """Rate of that velocity."""
        turning = self.axis_rate.cross(end.p - self.origin)
        return self.along_rate + turning + self.axis.cross(end.v - self.origin_rate)


@dataclass(frozen=True, eq=False)
class Rates:
    """Speeds and accelerations of freedoms, zero where not given."""

    speeds: Mapping[Freedom, Number] = field(default_factory=dict)
    accelerations: Mapping[Freedom, Number] = field(default_factory=dict)

    def of(self, freedom: Freedom) -> tuple[Number, Number]:
        """Speed and acceleration of one."""
        return self.speeds.get(freedom, 0.0), self.accelerations.get(freedom, 0.0)


def screws_of(chain: SpatialChain, postures: Postures, rates: Rates) -> tuple[list[Screw], Frame]:
    """All freedoms of a chain, and its end."""
    at, found = Frame(), []
    for link in chain.links:
        axes, after = _axes_of(link)
        if axes:
            found += [_along_axis(at, axis, postures[link.body], rates) for axis in axes]
            at.carry(after)
        else:
            found += _along_joint(at, link.body, postures[link.body], rates)
    at.carry(Placement(p=chain.tail))
    return found, at


def _along_axis(at: Frame, axis: _Axis, posture: Posture, rates: Rates) -> Screw:
    """The next turn or slide; ``at`` moves on."""
    at.carry(axis.before)
    joint = axis.joint
    place, z = posture.places[joint.freedom[1]], at.R * (EZ * joint.sign)
    speed, acceleration = rates.of(joint.freedom)
    moved, sped = z * speed, z * acceleration
    if joint.turning:
        screw = Screw(joint.freedom, at.p, z, ZERO3, at.v, at.w.cross(z))
        at.R = at.R @ Rotation((2, place.x, place.y * joint.sign))
        at.move(ZERO3, moved, ZERO3, sped)
    else:
        screw = Screw(joint.freedom, at.p, ZERO3, z, at.v, along_rate=at.w.cross(z))
        at.carry(Placement(p=EZ * (place.x * joint.sign)))
        at.move(moved, ZERO3, sped, ZERO3)
    return screw


def _along_joint(at: Frame, body: int, posture: Posture, rates: Rates) -> list[Screw]:
    """Freedoms of a joint by its motion subspace, and what time does; ``at`` moves on."""
    joint = posture.joint
    at.carry(joint.X)
    # multiplied out: many vectors are turned
    R = at.R = Rotation(at.R.matrix)
    columns = [*zip(range(len(joint.S)), joint.S, joint.dS, strict=True)]
    columns += [(TIME, joint.drift.V, joint.drift.rate)] if joint.drift else []
    moves = [(n, (R * s.v, R * s.w), (R * ds.v, R * ds.w)) for n, s, ds in columns]
    v = w = dv = dw = ZERO3
    for n, (along, axis), (bent, curled) in moves:
        speed, acceleration = rates.of((body, n))
        v, w = v + along * speed, w + axis * speed
        dv = dv + along * acceleration + bent * speed
        dw = dw + axis * acceleration + curled * speed
    at.move(v, w, dv + w.cross(v), dw)
    return [
        Screw(
            (body, n), at.p, axis, along, at.v, at.w.cross(axis) + curled, at.w.cross(along) + bent
        )
        for n, (along, axis), (bent, curled) in moves
    ]
