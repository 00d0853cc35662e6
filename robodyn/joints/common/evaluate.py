"""Joints of any kind at a state, in their place on the parent."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.joints.common.kind import JointGeometry, JointState, Part
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Rotation, Vec3


def evaluate(
    joint: JointGeometry, q: Sequence[Number], v: Sequence[Number], t: Number = 0.0
) -> JointState:
    """State of a joint in its place on the parent.

    q, v: Its own coordinates and speeds.
    t [s]: Of a joint that depends on it.
    """
    kind = joint.kind
    if kind.state_at is not None:
        return placed(joint, places_of(joint, q), v)
    assert kind.state is not None, f"a {kind} joint only closes loops"
    return _in_place(joint, kind.state(joint, [*q, t] if joint.rheonomic else q, v), v)


def places_of(joint: JointGeometry, q: Sequence[Number]) -> tuple[Planar, ...]:
    """Cosine and sine (offset included), or displacement and zero, of each degree of freedom.

    Nothing of joints whose degrees of freedom are not turns and slides one after the other.
    """
    return tuple(
        joint.turn(x) if turning else Planar(x)
        for turning, x in zip(joint.kind.turning, q, strict=False)
    )


def placed(joint: JointGeometry, places: Sequence[Planar], v: Sequence[Number]) -> JointState:
    """State of a joint whose degrees of freedom are turns and slides, by `places_of` it."""
    assert joint.kind.state_at is not None
    return _in_place(joint, joint.kind.state_at(joint, places, v), v)


def _in_place(joint: JointGeometry, state: JointState, v: Sequence[Number]) -> JointState:
    if joint.reversed:
        state = state.reversed(v)
    state.X = joint.X_PJ @ state.X
    return state


def parts_of(joint: JointGeometry) -> tuple[list[Part], Placement]:
    """A joint as turns and slides in their place on the parent, and the child after the last.

    No parts where its degrees of freedom are none of these.
    """
    if joint.kind.parts is not None:
        return joint.kind.parts(joint)
    before = [joint.X_PJ, *[Placement()] * len(joint.kind.turning)]
    turning = enumerate(joint.kind.turning)
    return [Part(before[n], n, turns) for n, turns in turning], Placement()


def turned(place: Planar) -> Rotation:
    """Turn about z."""
    return Rotation((2, place.x, place.y))


def slid(place: Planar) -> Vec3:
    """Way along z."""
    return Vec3(0.0, 0.0, place.x)
