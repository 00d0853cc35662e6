"""Hits without friction and joints that latch: jumps of speeds [W 6.2, 6.8-6.14]."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from robodyn.equations.quantities.common.closed_dynamics import system_of
from robodyn.equations.quantities.common.dynamics_derivatives import inertia_derivatives
from robodyn.equations.quantities.common.hit import Hit, Meeting, if_regular, jumps, unit_direction
from robodyn.equations.quantities.common.quantity import Input, Output, Q, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.tree import composite_body
from robodyn.results import ImpactDerivatives
from robodyn.symbolic.scalar import Number, Scalar, dot


class _Rebound:
    """An impact along a direction."""

    def __init__(self, t: Tracer) -> None:
        self.hit, self.n_W = Hit(t), unit_direction(t)
        self.force, self.speed = self.hit.along(self.n_W)
        self.jump, _ = self.hit.response(self.force)
        self.mobility = self.hit.mobility(self.force, self.jump, self.n_W)
        (self.restitution,) = t.numbers["restitution"]
        moves = isinstance(self.mobility, Scalar)
        wanted = -(1.0 + self.restitution) * self.speed
        self.p = wanted / self.mobility if moves else 0.0
        self.before = before = self.hit.before
        self.after = [x + self.p * y for x, y in zip(before, self.jump, strict=True)]

    def if_hit(self, values: list[Number]) -> list[Number]:
        """Values, NaN if the bodies separate already, or the link cannot give way."""
        e = self.restitution
        tests = [-self.speed, self.hit.movable(self.force, self.mobility), e * (1.0 - e)]
        return self.hit.if_true(values, tests)


def impact(t: Tracer) -> Results:
    """Jumps of speeds, where a point moves against the direction and can give way."""
    x = _Rebound(t)
    loss = -0.5 * x.p * (2.0 * x.speed + x.mobility * x.p)
    return x.hit.results(x.if_hit(x.after), x.n_W * x.p, loss)


def apparent_mass(t: Tracer) -> Results:
    """Impulse along a direction over the jump of speed along it, where the point can give way."""
    hit, n_W = Hit(t), unit_direction(t)
    force, _ = hit.along(n_W)
    mobility = dot(force, hit.response(force)[0])
    moves = isinstance(mobility, Scalar)
    # the square is 1 but for rounding, which may be large where the direction was very small
    mass: Number = n_W.dot(n_W) / mobility if moves else math.nan
    return {"mass": hit.if_true([mass], [hit.movable(force, mobility)])}


def impact_derivatives(t: Tracer) -> Results:
    """Speeds afterwards, and their derivatives by the state before, while loops stay closed.

    As ``A dp = -(1 + e) f dv - (e df v + df v+) - f dX p`` and ``dv+ = dv + dX p + X dp``, with
    the impulse ``p`` along forces ``f``, the jumps ``X`` and the mobility ``A`` of a unit of it.
    """
    x, nv, moved = _Rebound(t), t.model.nv, range(t.model.nv)
    e, f, X = x.restitution, x.force, x.jump
    moves = isinstance(x.mobility, Scalar)
    inverse: Number = 1.0 / x.mobility if moves else 0.0
    slopes = _slopes(t)
    (df, du_before), (_, du_after) = slopes(x.before), slopes(x.after)
    jumps = [x.p * k for k in X]
    _, multipliers = x.hit.response([x.p * k for k in f])
    dg, dc = inertia_derivatives(t, jumps, multipliers)
    by_q: list[list[Number]] = [[0.0] * nv for _ in moved]
    for j in moved:
        force = [x.p * df[i][j] - dg[i][j] for i in moved]
        dX_p, _ = x.hit.response(force, [row[j] for row in dc])
        dp = -inverse * (e * du_before[j] + du_after[j] + dot(f, dX_p))
        for i in moved:
            by_q[i][j] = dX_p[i] + X[i] * dp
    share = -(1.0 + e) * inverse
    by_v = [[(1.0 if i == j else 0.0) + share * X[i] * f[j] for j in moved] for i in moved]
    return {"v": x.if_hit(x.after), "d v / d q": by_q, "d v / d v": by_v}


def _slopes(t: Tracer) -> Callable[[list[Number]], tuple[list[list[Number]], list[Number]]]:
    """Derivatives by q of the generalised impulse, and of the speed of the point at some speeds."""

    def point(inner: Tracer) -> list[Number]:
        force, speed = Meeting(inner).along(unit_direction(inner))
        return [*force, speed]

    program = t.program(point)

    def at(v: list[Number]) -> tuple[list[list[Number]], list[Number]]:
        *rows, last = t.slopes(program, "q", v=v)
        return rows, last

    return at


#: Where a link is hit, and from where.
CONTACT = (Input("point", 3, "m"), Input("direction", 3, "1"))

#: What meets the link, where that is not the immovable world: another point of the robot, or
#: something that is no part of it, with the mobility of its point row by row.
PARTNERS = (
    Input("other_point", 3, "m", when=lambda options: "other" in options),
    Input("against_velocity", 3, "m/s", when=lambda options: options.get("against", False)),
    Input("against_mobility", 9, "1/kg", when=lambda options: options.get("against", False)),
)

#: A state, and a hit in it.
GIVEN = (Q, V, *CONTACT, Input("restitution", "number", "1"), *PARTNERS)

#: Speeds afterwards, and the energy that is lost.
AFTER = Output("v", ("nv",), "rad/s, m/s")
ENERGY_LOSS = Output("energy_loss", (), "J")

#: What a hit does; the impulse on the link in world axes, the energy that the contact takes, and
#: the velocity afterwards of what is no part of the robot.
IMPACT = (
    AFTER,
    Output("impulse", (3,), "N s"),
    ENERGY_LOSS,
    Output("against_v", (3,), "m/s", when=lambda options: options.get("against", False)),
)

#: How speeds afterwards change with the state before.
SLOPES = (
    AFTER,
    Output("d v / d q", ("nv", "nv"), "(rad/s, m/s) / (rad, m)"),
    Output("d v / d v", ("nv", "nv"), "1"),
)

#: Choices of a hit.
OF_HIT = ("frame", "other", "against", "controlled")


def latch(t: Tracer) -> Results:
    """Speeds afterwards and the energy lost, where the controlled speeds stop.

    Speeds before are made to fit loops that are closed, as for hits.
    """
    rows = t.rows if "rows" in t.options else ()
    controlled = t.options["controlled"]
    rates = [row.rate(t.v) for row in rows]
    M = composite_body.mass_matrix(t.state)
    fitted = system_of(t, rows, range(t.model.nv)).still(rates)
    before = [x + y for x, y in zip(t.v, fitted, strict=True)]
    given = {k: -before[k] for k in controlled}
    jump, multipliers = jumps(t, M, t.zeros, given=given)

    loss: Number = 0.0
    for k in controlled:
        loops = [row.jacobian.get(k, 0.0) for row in rows]
        impulse = dot(M[k], jump) - dot(loops, multipliers)
        loss = loss - impulse * before[k] * 0.5
    after = [x + y for x, y in zip(before, jump, strict=True)]
    return {"v": if_regular(t, after), "energy_loss": loss}


#: Quantities by name.
ROWS = {
    "impact": guarded_row(GIVEN, IMPACT, impact, OF_HIT),
    "impact_derivatives": guarded_row(
        GIVEN,
        SLOPES,
        impact_derivatives,
        OF_HIT,
        lambda setup, options: lambda found: ImpactDerivatives(*found),
    ),
    "apparent_mass": guarded_row(
        (Q, *CONTACT),
        (Output("mass", (), "kg"),),
        apparent_mass,
        OF_HIT,
        lambda setup, options: np.asarray,
    ),
    "latch": guarded_row((Q, V), (AFTER, ENERGY_LOSS), latch, ("controlled",)),
}
