"""Joints that stop at once: jumps of speeds, and the energy that the latches take [W 6.2]."""

from __future__ import annotations

from robodyn.equations.quantities.common.closed_dynamics import system_of
from robodyn.equations.quantities.common.hit import if_regular, jumps
from robodyn.equations.quantities.common.quantity import Q, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.quantities.impacts import AFTER, ENERGY_LOSS
from robodyn.equations.tree import composite_body
from robodyn.symbolic.scalar import Number, dot


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
    "latch": guarded_row((Q, V), (AFTER, ENERGY_LOSS), latch, ("controlled",)),
}
