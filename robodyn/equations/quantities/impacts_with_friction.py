"""Hits at which a point sticks, or slides with friction: `robodyn.impacts.friction` says how."""

from __future__ import annotations

import math
from functools import cached_property

from robodyn.equations.quantities.common.hit import AXES, Hit, unit_direction
from robodyn.equations.quantities.common.pseudo_inverse import PseudoInverse
from robodyn.equations.quantities.common.quantity import Input, Output, Q, V
from robodyn.equations.quantities.common.sliding import Sliding
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.quantities.impacts import AFTER, CONTACT, GIVEN, IMPACT, OF_HIT
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import Number, Scalar, dot, sqrt, where
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import (
    APPROACH_SPEED_ZERO,
    DECIDED_BY_CODE,
    LEAST_MOBILITY,
    SLIP_ENDED,
    SMALLEST_FULL_PRECISION,
    STILL_SLIDES,
)


class _Contact:
    """A point that is hit, along all three axes of the world."""

    def __init__(self, t: Tracer) -> None:
        self._t, self.hit = t, Hit(t)
        along = [self.hit.along(e) for e in AXES]
        self.forces = [force for force, _ in along]
        self.u = Vec3(*(speed for _, speed in along))
        self.jumps = [self.hit.response(force)[0] for force in self.forces]
        #: Jump of the velocity of parting a unit of impulse.
        self.W: Matrix = [
            [dot(x, jump) + theirs for jump, theirs in zip(self.jumps, row, strict=True)]
            for x, row in zip(self.forces, self.hit.of_partner, strict=True)
        ]

    @property
    def moves(self) -> bool:
        """Whether the point is movable."""
        return any(isinstance(w, Scalar) or w for row in self.W for w in row)

    @property
    def nothing(self) -> Results:
        """Results if it is not: NaN."""
        none = math.nan
        return self.hit.results([none] * self._t.model.nv, Vec3(none, none, none), none)

    def times(self, p: Vec3) -> Vec3:
        """Jump of the velocity of parting by an impulse."""
        return Vec3(*(dot(row, list(p)) for row in self.W))

    def after(self, p: Vec3) -> list[Number]:
        """Speeds afterwards."""
        found = self.hit.before
        for x, jump in zip(p, self.jumps, strict=True):
            found = [a + x * b for a, b in zip(found, jump, strict=True)]
        return found

    def loss(self, p: Vec3) -> Number:
        """Energy that an impulse takes."""
        return -0.5 * p.dot(self.u + self.u + self.times(p))

    @cached_property
    def inverse(self) -> PseudoInverse:
        """The map from a velocity jump to the least impulse that causes it."""
        return PseudoInverse(self.W)

    def solved(self, wanted: Vec3) -> tuple[Vec3, Number]:
        """The impulse that cancels a velocity, and the square of the remainder."""
        p = self.inverse.times(wanted) * -1.0
        left = wanted + self.times(p)
        return p, left.dot(left)

    @cached_property
    def tests(self) -> list[Number]:
        """Numbers of which one is negative where it may be told otherwise what can give way."""
        moves = self.inverse.trace * self.hit.trace - self.hit.reach * LEAST_MOBILITY
        return [*self.inverse.tests, moves]


def impact_that_sticks(t: Tracer) -> Results:
    """The point stays where it is."""
    x = _Contact(t)
    if not x.moves:
        return x.nothing
    p, left = x.solved(x.u)
    (restitution,) = t.numbers["restitution"]
    fits = x.u.dot(x.u) * APPROACH_SPEED_ZERO**2 - left
    after = x.hit.if_true(x.after(p), [*x.tests, fits, -(restitution * restitution)])
    return x.hit.results(after, p, x.loss(p))


class _Friction:
    """What friction makes of a hit: the point sticks where friction can give what that takes."""

    def __init__(self, t: Tracer, x: _Contact) -> None:
        self.x, self.n = x, unit_direction(t)
        (self.e,), (self.friction,) = t.numbers["restitution"], t.numbers["friction"]
        self.u_n = x.u.dot(self.n)
        u_t = x.u - self.n * self.u_n
        self.slips = sqrt(u_t.dot(u_t))
        s = u_t * (1.0 / self.slips)
        self.slide = Sliding(x.u, self.n, s, x.times, self.e, self.friction)
        stick, left = x.solved(x.u + self.n * (self.u_n * self.e))
        u_u = x.u.dot(x.u)
        stops, slides = (left - u_u * part**2 for part in (APPROACH_SPEED_ZERO, STILL_SLIDES))
        self._known = stops * slides
        p_n = stick.dot(self.n)
        p_t = stick - self.n * p_n
        self.pull = sqrt(p_t.dot(p_t))
        self.grip = self.friction * p_n - self.pull
        sticks = (self.grip > 0.0) & (stops < 0.0)
        pairs = zip(stick, self.slide.impulse, strict=True)
        self.impulse = Vec3(*(where(sticks, *pair) for pair in pairs))

    @cached_property
    def tests(self) -> list[Number]:
        """Numbers of which one is negative where another way has to be asked."""
        x, slide, hit, e = self.x, self.slide, self.x.hit, self.e
        force = [dot(list(self.n), column) for column in zip(*x.forces, strict=True)]
        u_u = x.u.dot(x.u)
        rounding = u_u * hit.trace / hit.reach * DECIDED_BY_CODE**2
        return [
            *x.tests,
            self._known,
            -self.u_n,
            hit.movable(force, slide.nn),
            e * (1.0 - e),
            self.friction - SMALLEST_FULL_PRECISION,
            self.slips * self.slips - u_u * DECIDED_BY_CODE**2,
            slide.parting - slide.nn * DECIDED_BY_CODE,
            x.loss(self.impulse) + rounding,
            *_doubts(slide),
            _clear(self.grip, self.pull),
        ]


def impact_with_friction(t: Tracer) -> Results:
    """Newton's restitution along the normal, Coulomb's law for the impulses as wholes."""
    x = _Contact(t)
    if not x.moves:
        return x.nothing
    found = _Friction(t, x)
    p = found.impulse
    after = x.hit.if_true(x.after(p), found.tests)
    return x.hit.results(after, p, x.loss(p))


def point_response(t: Tracer) -> Results:
    """Velocity of a point, its jumps and those of all speeds along the axes of the world."""
    x = _Contact(t)
    found = x.hit.if_true(x.hit.before, [])
    R = x.hit.meeting.points[0].X.R.matrix.rows()
    return {
        "v": found, "velocity": x.u, "mobility": x.W, "jumps": x.jumps, "J": x.forces, "R": R,
    }  # fmt: skip


def _doubts(slide: Sliding) -> list[Number]:
    """Numbers of which one is negative where rounding may decide whether the slip ends."""
    square = slide.above * slide.above
    low, high = ((slide.scale * x) ** 2 for x in (SLIP_ENDED, DECIDED_BY_CODE))
    return [
        (square - low) * (square - high),
        where(slide.ends, 0.0, square - high),
        where(slide.ended, 0.0, _clear(slide.excess, slide.scale)),
    ]


def _clear(x: Number, scale: Number) -> Number:
    """What is negative where rounding may have decided the sign of a number."""
    least = scale * DECIDED_BY_CODE
    return x * x - least * least


#: A hit at which nothing has a direction, and one with friction.
STICKING = tuple(x for x in GIVEN if x.name != "direction")
RUBBING = (*GIVEN, Input("friction", "number", "1"))

#: A point of a robot as another one meets it.
RESPONSE = (
    AFTER,
    Output("velocity", (3,), "m/s"),
    Output("mobility", (3, 3), "1/kg"),
    Output("jumps", (3, "nv"), "(rad/s, m/s) / (N s)"),
    Output("J", (3, "nv"), "m, 1"),
    Output("R", (3, 3), "1"),
)

#: Quantities by name.
ROWS = {
    "impact_that_sticks": guarded_row(STICKING, IMPACT, impact_that_sticks, OF_HIT),
    "impact_with_friction": guarded_row(RUBBING, IMPACT, impact_with_friction, OF_HIT),
    "point_response": guarded_row((Q, V, CONTACT[0]), RESPONSE, point_response, OF_HIT),
}
