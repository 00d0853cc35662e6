"""Kinematics of every kind of joint.

A kind is one function of the coordinates ``q`` and speeds ``v``: it returns the pose ``X_JB`` of
the child frame B in the joint frame J, the motion subspace S (one `Twist` of B a speed, in B) and
the rate of each column of S in B. Joints with an axis have it along z here; `frames` turns the
frames of a mechanism so that this is no restriction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robodyn.joints.joint_map import JointMap
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Vec3

__all__ = [
    "AXIAL",
    "KINDS",
    "TURNING",
    "JointGeometry",
    "JointState",
    "evaluate",
    "placed",
    "places_of",
]

#: Kinds with one axis, which frames are turned to have along z.
AXIAL = frozenset({"revolute", "continuous", "prismatic", "helical", "cylindrical"})

#: Kinds whose freedoms are turns (true) and slides, one after the other.
TURNING: dict[str, tuple[bool, ...]] = {
    "revolute": (True,),
    "continuous": (True,),
    "prismatic": (False,),
    "cylindrical": (False, True),
    "universal": (True, True),
}


@dataclass(frozen=True, eq=False)
class JointGeometry:
    """What is known of a joint before it moves.

    Attributes
    ----------
    kind : str
    X_PJ : Placement
        Joint frame in the parent's frame.
    offset : float [rad]
        Added to the angle of an axial joint.
    pitch : float [m/rad]
        Of a helical joint.
    R_J1, R_J2 : Rotation
        Turn z to the first and second axis of a universal joint.
    reversed : bool
        The joint's own direction is from B to J (kinds without an axis only; an axis is flipped).
    map : JointMap or None
        Of a joint that its user made.
    """

    kind: str
    X_PJ: Placement
    offset: float = 0.0
    pitch: float = 0.0
    R_J1: Rotation = Rotation()  # noqa: RUF009  (immutable)
    R_J2: Rotation = Rotation()  # noqa: RUF009
    reversed: bool = False
    map: JointMap | None = None


Places = Sequence[Planar]


class JointState:
    """A joint at a state: where it is and how it can move.

    Attributes
    ----------
    X : Placement
        ``X_PB``, child in parent.
    S : list of Twist
        Motion subspace: twist of B relative to P for unit speeds, in B.
    dS : list of Twist
        Rate of each column, in B.
    """

    __slots__ = ("S", "X", "dS")

    def __init__(self, X: Placement, S: list[Twist], dS: list[Twist] | None = None) -> None:
        self.X, self.S = X, S
        self.dS = [Twist()] * len(S) if dS is None else dS

    def reversed(self, v: Sequence[Number]) -> JointState:
        """The same joint seen from the other side."""
        V = sum((s * x for s, x in zip(self.S, v, strict=True)), Twist())
        S = [-self.X.twist_out(s) for s in self.S]
        dS = [-self.X.twist_out(V.cross(s) + ds) for s, ds in zip(self.S, self.dS, strict=True)]
        return JointState(self.X.inverse, S, dS)


def _cosine_and_sine(q: Number, offset: float) -> Planar:
    """Of ``q + offset``; quarter turns of the offset cost nothing."""
    quarters = round(offset / (0.5 * math.pi))
    rest = offset - quarters * (0.5 * math.pi)
    angle = q + (rest if abs(rest) > 1e-14 else 0.0)
    place = Planar(cos(angle), sin(angle))
    for _ in range(quarters % 4):
        place = place.left
    return place


def places_of(joint: JointGeometry, q: Sequence[Number]) -> tuple[Planar, ...]:
    """Cosine and sine (offset included), or displacement and zero, of each freedom.

    Nothing of joints whose freedoms are not turns and slides one after the other.
    """
    return tuple(
        _cosine_and_sine(x, joint.offset) if turning else Planar(x)
        for turning, x in zip(TURNING.get(joint.kind, ()), q, strict=False)
    )


def _turned(place: Planar) -> Rotation:
    """Turn about z."""
    return Rotation((2, place.x, place.y))


def _slid(place: Planar) -> Vec3:
    """Way along z."""
    return Vec3(0.0, 0.0, place.x)


def _fixed(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """No motion: a joint that is there because the wrench in it is wanted."""
    return JointState(Placement(), [])


def _revolute(joint: JointGeometry, at: Places, v: Sequence[Number]) -> JointState:
    """Angle about z."""
    return JointState(Placement(_turned(at[0])), [Twist(w=EZ)])


def _prismatic(joint: JointGeometry, at: Places, v: Sequence[Number]) -> JointState:
    """Displacement along z."""
    return JointState(Placement(p=_slid(at[0])), [Twist(v=EZ)])


def _cylindrical(joint: JointGeometry, at: Places, v: Sequence[Number]) -> JointState:
    """Displacement along z, angle about z."""
    return JointState(Placement(_turned(at[1]), _slid(at[0])), [Twist(v=EZ), Twist(w=EZ)])


def _universal(joint: JointGeometry, at: Places, v: Sequence[Number]) -> JointState:
    """Angle about the first axis (fixed in J), about the second (fixed in B)."""
    R_1, R_2 = joint.R_J1, joint.R_J2
    first = R_1 @ _turned(at[0]) @ R_1.T
    second = R_2 @ _turned(at[1]) @ R_2.T
    axis_1, axis_2 = second.inverse_times(R_1 * EZ), R_2 * EZ
    X = Placement(first @ second)
    return JointState(
        X, [Twist(w=axis_1), Twist(w=axis_2)], [Twist(w=axis_1.cross(axis_2) * v[1]), Twist()]
    )


def _helical(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` angle about z; z advances by ``pitch q``."""
    X = Placement(_turned(_cosine_and_sine(q[0], joint.offset)), EZ * (q[0] * joint.pitch))
    return JointState(X, [Twist(EZ * joint.pitch, EZ)])


def _mapped(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` as the user's map has it; ``v`` their rates."""
    given = joint.map
    assert given is not None
    R, p = given.pose(q)
    return JointState(Placement(Rotation(R), p), given.columns(q), given.rates(q, v))


def _planar(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` = x, y in the plane across z, angle; ``v`` = vx, vy in child axes, w."""
    X = Placement(Rotation.about(2, q[2]), Vec3(q[0], q[1], 0.0))
    return JointState(X, [Twist(v=EX), Twist(v=EY), Twist(w=EZ)])


def _spherical(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` quaternion x, y, z, w; ``v`` body angular velocity."""
    X = Placement(Rotation.from_quaternion(q[0], q[1], q[2], q[3]))
    return JointState(X, [Twist(w=e) for e in (EX, EY, EZ)])


def _floating(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` = position, quaternion x, y, z, w; ``v`` body twist."""
    X = Placement(Rotation.from_quaternion(q[3], q[4], q[5], q[6]), Vec3(q[0], q[1], q[2]))
    axes = (EX, EY, EZ)
    return JointState(X, [Twist(v=e) for e in axes] + [Twist(ZERO3, e) for e in axes])


#: Kind -> its kinematics from coordinates.
KINDS: dict[str, Callable[[JointGeometry, Sequence[Number], Sequence[Number]], JointState]] = {
    "fixed": _fixed,
    "helical": _helical,
    "map": _mapped,
    "planar": _planar,
    "spherical": _spherical,
    "floating": _floating,
}

#: Kind -> its kinematics from cosines, sines and displacements.
PLACED: dict[str, Callable[[JointGeometry, Places, Sequence[Number]], JointState]] = {
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "cylindrical": _cylindrical,
    "universal": _universal,
}


def evaluate(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """State of a joint in its place on the parent.

    Parameters
    ----------
    joint : JointGeometry
    q, v : sequence of numbers
        Its own coordinates and speeds.
    """
    if joint.kind in PLACED:
        return placed(joint, places_of(joint, q), v)
    return _in_place(joint, KINDS[joint.kind](joint, q, v), v)


def placed(joint: JointGeometry, places: Places, v: Sequence[Number]) -> JointState:
    """State of a joint whose freedoms are turns and slides, by `places_of` it."""
    return _in_place(joint, PLACED[joint.kind](joint, places, v), v)


def _in_place(joint: JointGeometry, state: JointState, v: Sequence[Number]) -> JointState:
    if joint.reversed:
        state = state.reversed(v)
    state.X = joint.X_PJ @ state.X
    return state
