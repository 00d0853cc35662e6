"""A hit of the immovable world, without friction: jumps of speeds under an impulse [W 6.8-6.14]."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import Constrained, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.equations.tree import composite_body
from robodyn.equations.tree import frame_motion as fm
from robodyn.joints.common.cut import Row
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, Scalar, dot, sqrt
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import CONTACT_DIRECTION, GUARD_SCALE, IMMOVABLE, LOOP_DRIFT

__all__ = ["ROWS"]

#: Speeds afterwards, the impulse on the link in world axes, and the energy that the contact takes.
OUTPUTS = (
    Output("v", ("nv",), "rad/s, m/s"),
    Output("impulse", (3,), "N s"),
    Output("energy_loss", (), "J"),
)


def impact(t: Tracer) -> Results:
    """Jumps of speeds, where a point moves against the direction and can give way.

    Speeds before are made to fit loops that are closed, as they were if the loops closed just
    before. Results are not numbers where the bodies part already, or nothing gives way.
    """
    rows: Sequence[Row] = t.rows if "rows" in t.options else ()
    M, light = composite_body.mass_matrix(t.model, t.state), t.model.light
    groups = t.options.get("groups", ())

    def response(force: list[Number], rates: list[Number]) -> list[Number]:
        own = [Row(0.0, row.jacobian, rate) for row, rate in zip(rows, rates, strict=True)]
        return accelerations(M, force, own, light, groups)[0]

    opening = [dot(list(row.jacobian.values()), [t.v[k] for k in row.jacobian]) for row in rows]
    opening = [x + row.offset for x, row in zip(opening, rows, strict=True)]
    fitted = response(t.zeros, opening) if rows else t.zeros
    before = [x + y for x, y in zip(t.v, fitted, strict=True)]

    direction = Vec3(*t.numbers["direction"])
    n_W = direction * (1.0 / sqrt(direction.dot(direction)))
    body, X = t.link(t.options["frame"])
    link = fm.absolute(t.model, t.state, t.zeros, t.base, body, X)
    point = link.onto(Placement(Rotation(), Vec3(*t.numbers["point"])))
    n = link.X.R.inverse_times(n_W)
    force = [n.dot(point.columns[k].v) if k in point.columns else 0.0 for k in range(t.model.nv)]
    speed = n.dot(point.V.v) + dot(force, fitted)
    jump = response(force, [0.0] * len(rows))
    mobility = dot(force, jump)
    (restitution,) = t.numbers["restitution"]
    p = -(1.0 + restitution) * speed / mobility if isinstance(mobility, Scalar) else 0.0
    after = [x + p * y for x, y in zip(before, jump, strict=True)]

    reach = sum((s.v.dot(s.v) for s in point.columns.values()), 0.0) * CONTACT_DIRECTION
    trace = sum((M[k][k] for k in range(t.model.nv)), 0.0)
    tests = [
        -speed,
        mobility * trace - (dot(force, force) + reach) * IMMOVABLE,
        restitution * (1.0 - restitution),
    ]
    for test in tests:
        after = if_not_negative(after, test * GUARD_SCALE)
    if rows:
        gaps = [t.gaps[k].residual for k in t.setup.position_rows]
        after = if_not_negative(after, LOOP_DRIFT**2 - dot(gaps, gaps))
    return {
        "v": closed_dynamics.if_forward_is_regular(t, after) if rows else after,
        "impulse": [x * p for x in n_W],
        "energy_loss": -0.5 * p * (2.0 * speed + mobility * p),
    }


#: Quantities by name.
ROWS = {
    "impact": Quantity(
        inputs=(
            Q,
            V,
            Input("point", 3, "m"),
            Input("direction", 3, "1"),
            Input("restitution", "number", "1"),
        ),
        outputs=OUTPUTS,
        trace=impact,
        closed=Constrained(impact, ("groups", *CHECKED)),
        base=True,
        options=("frame",),
        solves=True,
        guarded=True,
    ),
}
