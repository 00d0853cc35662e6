"""Joints that stop at once: jumps of speeds, and the energy that the latches take [W 6.2]."""

from __future__ import annotations

from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.elimination.drift import least_changes
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import Constrained, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.equations.tree import composite_body
from robodyn.joints.common.cut import Row
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.scalar import Number, dot
from robodyn.tolerances import LOOP_DRIFT

__all__ = ["ROWS"]


def latch(t: Tracer) -> Results:
    """Speeds afterwards and the energy lost, where the controlled speeds stop.

    Speeds before are made to fit loops that are closed, as for hits.
    """
    rows = t.rows if "rows" in t.options else ()
    groups, controlled = t.options.get("groups", ()), t.options["controlled"]
    free = [k for k in range(t.model.nv) if k not in controlled]
    rates = [sum((x * t.v[k] for k, x in row.jacobian.items()), row.offset) for row in rows]
    (fitted,) = least_changes(t.model, t.state, frozenset(), rows, [rates], groups)
    before = [x + y for x, y in zip(t.v, fitted, strict=True)]

    M = composite_body.mass_matrix(t.model, t.state)
    jump: list[Number] = [0.0] * t.model.nv
    for k in controlled:
        jump[k] = -before[k]
    force = [-dot([M[i][k] for k in controlled], [jump[k] for k in controlled]) for i in free]
    own = [
        Row(
            0.0,
            {i: row.jacobian[k] for i, k in enumerate(free) if k in row.jacobian},
            sum((x * jump[k] for k, x in row.jacobian.items() if k in controlled), 0.0),
        )
        for row in rows
    ]
    light = {i: t.model.light[k] for i, k in enumerate(free) if k in t.model.light}
    M_ff = [[M[i][j] for j in free] for i in free]
    found, multipliers = accelerations(M_ff, force, own, light, groups)
    for k, x in zip(free, found, strict=True):
        jump[k] = x

    loss: Number = 0.0
    for k in controlled:
        loops = [row.jacobian.get(k, 0.0) for row in rows]
        impulse = dot(M[k], jump) - dot(loops, multipliers)
        loss = loss - impulse * before[k] * 0.5
    after = [x + y for x, y in zip(before, jump, strict=True)]
    return {"v": _if_regular(t, after, free), "energy_loss": loss}


def _if_regular(t: Tracer, values: list[Number], free: list[int]) -> list[Number]:
    """Values; not all numbers where loops are open, or nearly singular beside the latches."""
    if "rows" not in t.options:
        return values
    gap = [t.gaps[k].residual for k in t.setup.position_rows]
    values = if_not_negative(values, LOOP_DRIFT**2 - dot(gap, gap))
    if "tangent_probe" in t.options:
        probe = t.options["tangent_probe"]
        values = closed_dynamics.if_rows_are_regular(t, values, free, probe)
    return closed_dynamics.if_forward_is_regular(t, values)


#: Quantities by name.
ROWS = {
    "latch": Quantity(
        inputs=(Q, V),
        outputs=(Output("v", ("nv",), "rad/s, m/s"), Output("energy_loss", (), "J")),
        trace=latch,
        closed=Constrained(latch, ("groups", "tangent_probe", *CHECKED)),
        base=True,
        options=("controlled",),
        solves=True,
        guarded=True,
    ),
}
