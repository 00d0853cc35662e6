"""Points of bodies that press on planes: elastic force, damping and friction [Hunt, Crossley 1975].

There are no branches: what is zero without contact is a sum of a number and its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.description.ground import Ground
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import BaseState, State
from robodyn.equations.tree.kinematics import placements, twists
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import PENETRATION_FLOOR

__all__ = ["Contact", "Touch", "energy", "touches", "wrenches"]


@dataclass(frozen=True)
class Contact:
    """A point that may touch a plane.

    Attributes
    ----------
    body : int
    point : Vec3
        In the body's frame.
    ground : Ground
    """

    body: int
    point: Vec3
    ground: Ground


@dataclass(frozen=True)
class Touch:
    """What there is at a contact.

    Attributes
    ----------
    depth : Number [m]
        Zero above the ground.
    slip : Vec3 [m/s]
        Velocity along the plane, in world axes.
    force : Vec3 [N]
        On the body, in world axes.
    """

    depth: Number
    slip: Vec3
    force: Vec3


def touches(
    model: MechanismModel, state: State, base: BaseState, contacts: Sequence[Contact]
) -> list[Touch]:
    """What there is at each contact."""
    X, V = placements(model, state, base), twists(model, state, base)
    return [_touch(c, X[c.body], V[c.body]) for c in contacts]


def wrenches(
    model: MechanismModel, state: State, base: BaseState, contacts: Sequence[Contact]
) -> dict[int, Wrench]:
    """What the ground exerts on each body, about its origin in its axes."""
    total: dict[int, Wrench] = {}
    if not contacts:
        return total
    X = placements(model, state, base)
    for c, touch in zip(contacts, touches(model, state, base, contacts), strict=True):
        f = X[c.body].R.inverse_times(touch.force)
        total[c.body] = total.get(c.body, Wrench()) + Wrench(f, c.point.cross(f))
    return total


def energy(
    model: MechanismModel, state: State, base: BaseState, contacts: Sequence[Contact]
) -> Number:
    """What the ground gives back when it is left slowly."""
    X = placements(model, state, base) if contacts else {}
    total: Number = 0.0
    for c in contacts:
        order = c.ground.exponent + 1.0
        total = total + _power(_depth(c, X[c.body]), order) * (c.ground.stiffness / order)
    return total


def _touch(c: Contact, X: Placement, V: Twist) -> Touch:
    """Forces of the plane on a point of a body that is at ``X`` and moves with ``V``."""
    ground, normal = c.ground, Vec3.of(c.ground.normal)
    u = X.R * (V.v + V.w.cross(c.point))
    rising = normal.dot(u)
    slip = u - normal * rising
    depth = _depth(c, X)
    push = _power(depth, ground.exponent) * ground.stiffness
    if ground.damping:
        push = push * _positive(1.0 - rising * ground.damping)
    force = normal * push
    if ground.friction:
        speed = sqrt(slip.dot(slip) + ground.friction_speed**2)
        force = force - slip * (push * ground.friction / speed)
    return Touch(depth, slip, force)


def _depth(c: Contact, X: Placement) -> Number:
    place = X.R * c.point + X.p
    return _positive(c.ground.height - Vec3.of(c.ground.normal).dot(place))


def _positive(x: Number) -> Number:
    """``x`` where it is positive, else zero."""
    return (x + sqrt(x * x + PENETRATION_FLOOR**2)) * 0.5


def _power(x: Number, exponent: float) -> Number:
    """Of a number that is not negative, to a whole or half power of at least one."""
    whole = int(exponent)
    result: Number = x**whole
    return result * sqrt(x + PENETRATION_FLOOR**2) if exponent > whole else result
