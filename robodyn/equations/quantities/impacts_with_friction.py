"""Hits at which a point sticks, or slides with friction: `robodyn.impacts.friction` says how."""

from __future__ import annotations

import math
from functools import cached_property

from robodyn.equations.quantities.common.hit import AXES, Hit, Sliding, unit_direction
from robodyn.equations.quantities.common.quantity import Input, Output, Q, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.quantities.impacts import AFTER, CONTACT, GIVEN, IMPACT, OF_HIT
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import Number, Scalar, dot, is_zero, sqrt, where
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import (
    APPROACH_SPEED_ZERO,
    DECIDED_BY_CODE,
    LEAST_MOBILITY,
    SECOND_MOBILITY,
    SLIP_ENDED,
    SMALLEST_FULL_PRECISION,
    STILL_SLIDES,
    THIRD_MOBILITY,
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


class PseudoInverse:
    """The least solution of ``W x = b``, for b in the range of W.

    With the sums ``e1``, ``e2``, ``e3`` of products of one, two and three eigenvalues it is
    ``W b / e1^2`` for rank 1; for rank 2, with the projection ``P = (e1 W - W^2) / e2`` onto the
    range, ``(e1 P - W) b / e2`` [Cayley and Hamilton]; for rank 3 that of elimination.

    W: Symmetric, not negative, not zero.
    """

    def __init__(self, W: Matrix) -> None:
        self._W = W
        #: Sum of the eigenvalues.
        self.trace = sum((W[k][k] for k in range(3)), 0.0)
        minors = [_minor(W, i, j) for i, j in ((0, 1), (0, 2), (1, 2))]
        self._e2 = sum(minors, 0.0)
        e3 = (
            W[0][0] * minors[2]
            - W[0][1] * (W[0][1] * W[2][2] - W[1][2] * W[0][2])
            + W[0][2] * (W[0][1] * W[1][2] - W[1][1] * W[0][2])
        )
        square, product = self.trace * self.trace, self.trace * self._e2
        second, third = (
            [x - size * part for part in parts]
            for x, size, parts in (
                (self._e2, square, SECOND_MOBILITY),
                (e3, product, THIRD_MOBILITY),
            )
        )
        self._one, self._three = second[0] < 0.0, third[1] > 0.0
        none = e3 + product * THIRD_MOBILITY[0]
        #: Numbers of which one is negative if the rank is in doubt.
        self.tests = [
            second[0] * second[1],
            where(self._one, 0.0, third[0] * third[1] * none),
        ]

    def times(self, b: Vec3) -> Vec3:
        """The solution."""
        Wb, e1, e2 = self._of(b), self.trace, self._e2
        inverse = 1.0 / e2 if not is_zero(e2) else 0.0
        of_two = ((Wb * e1 - self._of(Wb)) * (inverse * e1) - Wb) * inverse
        of_one, of_three = Wb * (1.0 / (e1 * e1)), self._eliminated(b)
        ways = zip(of_one, of_two, of_three, strict=True)
        return Vec3(*(where(self._one, x, where(self._three, z, y)) for x, y, z in ways))

    def _of(self, x: Vec3) -> Vec3:
        return Vec3(*(dot(row, list(x)) for row in self._W))

    def _eliminated(self, b: Vec3) -> Vec3:
        """The solution by elimination, of rank 3."""
        W, x = [list(row) for row in self._W], list(b)
        for k in range(3):
            for i in range(k + 1, 3):
                known = not (is_zero(W[i][k]) or is_zero(W[k][k]))
                factor = W[i][k] / W[k][k] if known else 0.0
                for j in range(k + 1, 3):
                    W[i][j] = W[i][j] - factor * W[k][j]
                x[i] = x[i] - factor * x[k]
        for k in (2, 1, 0):
            rest = dot(W[k][k + 1 :], x[k + 1 :])
            x[k] = (x[k] - rest) / W[k][k] if not is_zero(W[k][k]) else 0.0
        return Vec3(*x)


def _minor(W: Matrix, i: int, j: int) -> Number:
    return W[i][i] * W[j][j] - W[i][j] * W[i][j]
