"""States of closed linkages that keep loops closed, nearest in kinetic energy to those given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.equations.elimination.drift import least_changes
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import (
    A,
    Constrained,
    Input,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.scalar import Number, by_precision, dot
from robodyn.tolerances import LOOP_DRIFT

__all__ = ["ROWS"]


def consistent_velocity(t: Tracer) -> Results:
    """Speeds that keep loops closed, at postures at which they are."""
    found = _nearest(t, t.v, [row.offset for row in t.rows])
    if "closure_tolerance" in t.options:
        units = t.setup.row_units
        gap = [row.residual * (1.0 / unit) for row, unit in zip(t.gaps, units, strict=True)]
        double, single = t.options["closure_tolerance"]
        allowed = by_precision(t.graph, double**2, single**2)
        found = if_not_negative(found, allowed - dot(gap, gap))
    return {"v": found}


def consistent_acceleration(t: Tracer) -> Results:
    """Accelerations that keep loops closed, in states in which they are."""
    found = _nearest(t, t.a, [row.bias for row in t.rows])
    return {"a": closed_dynamics.if_closed_state(t, found)}


def closed_state(t: Tracer) -> Results:
    """The same posture, if its loops are closed, and speeds that keep them closed."""
    found = _nearest(t, t.v, [row.offset for row in t.rows])
    gap = [t.gaps[k].residual for k in t.setup.position_rows]
    return {"q": t.numbers["q"], "v": if_not_negative(found, LOOP_DRIFT**2 - dot(gap, gap))}


def _nearest(t: Tracer, wanted: Sequence[Number], biases: Sequence[Number]) -> list[Number]:
    """The values nearest to wanted ones with ``K x + bias = 0``; controlled speeds keep theirs.

    One is not a number where the rows are nearly dependent over the other speeds.
    """
    controlled = frozenset(t.options["controlled"])
    opening = [
        sum((slope * wanted[k] for k, slope in row.jacobian.items()), bias)
        for row, bias in zip(t.rows, biases, strict=True)
    ]
    groups = t.options.get("groups", ())
    (change,) = least_changes(t.model, t.state, controlled, t.rows, [opening], groups)
    if "probe" in t.options:
        free = [k for k in range(t.model.nv) if k not in controlled]
        change = closed_dynamics.if_rows_are_regular(t, change, free, t.options["probe"])
    return [x + y for x, y in zip(wanted, change, strict=True)]


def _row(trace: Callable[[Tracer], Results], given: tuple[Input, ...], *names: str) -> Quantity:
    """The row of values that stay as they are in a tree: the last of its inputs."""
    return Quantity(
        inputs=given,
        outputs=tuple(Output(x.name, (x.size,), x.unit) for x in given if x.name in names),
        trace=lambda t: {name: t.numbers[name] for name in names},
        closed=Constrained(trace, ("groups", *CHECKED)),
        options=("controlled",),
        guarded=True,
    )


#: Quantities by name.
ROWS = {
    "consistent_velocity": _row(consistent_velocity, (Q, V), "v"),
    "consistent_acceleration": _row(consistent_acceleration, (Q, V, A), "a"),
    "closed_state": _row(closed_state, (Q, V), "q", "v"),
}
