"""Chains of a spatial loop: as rigid pieces between unknown axes, and how their ends move.

All is seen from the body where the two chains of the loop part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.equations.closed_form.linkage import TIME, Freedom, Posture
from robodyn.equations.closed_form.rods import Piece, UnknownJoint
from robodyn.joints.common.evaluate import parts_of
from robodyn.joints.common.kind import JointGeometry
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EZ, ZERO3, Vec3

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
