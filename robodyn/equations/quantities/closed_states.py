"""States of closed linkages that keep loops closed, nearest in kinetic energy to those given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from robodyn.equations.loops.constraint_violation import if_closed
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import (
    STATE,
    A,
    Constrained,
    Input,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.quantities.dynamics import CHECKED
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, by_precision, dot, if_not_negative
from robodyn.tolerances import LOOP_CLOSED, LOOP_DRIFT, QUATERNION_ROUNDING

#: Of a row and the speeds, or of one and the accelerations.
Rate: TypeAlias = Callable[[Row, Sequence[Number]], Number]


def consistent_velocity(t: Tracer) -> Results:
    """Speeds that keep loops closed, at postures at which they are."""
    found = _nearest(t, t.v, Row.rate)
    if "closure_tolerance" in t.options:
        units = t.setup.row_units
        gap = [x * (1.0 / unit) for x, unit in zip(t.residuals, units, strict=True)]
        double, single = t.options["closure_tolerance"]
        allowed = by_precision(t.graph, double**2, single**2)
        found = if_not_negative(found, allowed - dot(gap, gap))
    return {"v": found}


def consistent_acceleration(t: Tracer) -> Results:
    """Accelerations that keep loops closed, in states in which they are."""
    found = _nearest(t, t.a, Row.acceleration)
    return {"a": closed_dynamics.if_closed_state(t, found)}


def closed_state(t: Tracer) -> Results:
    """The same posture, if its loops are closed, and speeds that keep them closed."""
    found = _nearest(t, t.v, Row.rate)
    return {"q": t.numbers["q"], "v": _if_closed(t, found, LOOP_DRIFT)}


def mobility(t: Tracer) -> Results:
    """Degrees of freedom, if as many rows are independent as at most postures.

    It is no number where other rows mostly follow from these: in some ways of assembly they do not.
    """
    groups = t.options.get("groups", ())
    rank = len(t.rows) - sum(len(group.weights) - group.rank for group in groups)
    found: list[Number] = [float(t.model.nv - rank)]
    others = [row for k, row in enumerate(t.all_rows) if k not in t.options["rows"]]
    if groups or any(any(row.jacobian.values()) for row in others):
        found = [math.nan]
    if "probe" in t.options:
        found = closed_dynamics.if_rows_are_regular(t, found, range(t.model.nv), t.options["probe"])
    return {"dof": found[0]}


def check_state(t: Tracer) -> Results:
    """Zero if loops are closed and stay so, far enough from singular postures; else NaN."""
    return {"zero": closed_dynamics.if_forward_is_regular(t, [0.0])[0]}


def closed_posture(t: Tracer) -> Results:
    """The same posture, if its loops are closed, within limits, with quaternions of unit length."""
    q = t.numbers["q"]
    found = _if_closed(t, list(q), LOOP_CLOSED)
    for k, lower, upper in t.options.get("bounds", ()):
        if lower > -math.inf:
            found = if_not_negative(found, q[k] - lower)
        if upper < math.inf:
            found = if_not_negative(found, upper - q[k])
    for places in t.options.get("quaternions", ()):
        off = sum((q[k] * q[k] for k in places), -1.0) * 0.5
        found = if_not_negative(found, QUATERNION_ROUNDING**2 - off * off)
    return {"q": found}


def _if_closed(t: Tracer, values: list[Number], gap: float) -> list[Number]:
    """Values, some NaN if the loops are open by more than a gap [m, rad]."""
    rows = [t.residuals[k] for k in t.setup.position_rows]
    return if_not_negative(values, gap**2 - dot(rows, rows))


def _nearest(t: Tracer, wanted: Sequence[Number], rate: Rate) -> list[Number]:
    """The values nearest to wanted ones at which rates vanish; controlled speeds keep theirs.

    One is not a number where the rows are nearly dependent over the other speeds.
    """
    controlled = frozenset(t.options["controlled"])
    opening = [rate(row, wanted) for row in t.rows]
    (change,) = closed_dynamics.least_changes(t, controlled, t.rows, [opening])
    if "probe" in t.options:
        change = closed_dynamics.if_rows_are_regular(t, change, t.free, t.options["probe"])
    return _if_other_rows_fit(t, [x + y for x, y in zip(wanted, change, strict=True)], rate)


def _if_other_rows_fit(t: Tracer, x: list[Number], rate: Rate) -> list[Number]:
    """Values, some NaN if rows do not depend on the chosen ones, as they mostly do.

    Such postures are in other ways of assembly, in which the rank is another one.
    """
    chosen_suffice = len(t.rows) == len(t.all_rows) and not t.options.get("groups")
    if chosen_suffice or "closure_tolerance" not in t.options:
        return x
    opened: Number = 0.0
    size: Number = 1.0
    for row, unit in zip(t.all_rows, t.setup.row_units, strict=True):
        measured = row.scaled(1.0 / unit)
        opens, b = rate(measured, x), rate(replace(measured, jacobian={}), x)
        opened, size = opened + opens * opens, size + b * b
    for value, unit in zip(x, t.setup.speed_units, strict=True):
        size = size + value * value * (1.0 / unit**2)
    return if_closed(x, (opened, size), t.options["closure_tolerance"])


def _row(trace: Trace, given: tuple[Input, ...], *names: str) -> Quantity:
    """The row of values that stay as they are in a tree: the last of its inputs."""
    return Quantity(
        given,
        tuple(Output(x.name, (x.size,), x.unit) for x in given if x.name in names),
        lambda t: {name: t.numbers[name] for name in names},
        Constrained(trace, ("groups", *CHECKED)),
        options=("controlled",),
        guarded=True,
    )


#: Quantities by name.
ROWS = {
    "consistent_velocity": _row(consistent_velocity, (Q, V), "v"),
    "consistent_acceleration": _row(consistent_acceleration, (Q, V, A), "a"),
    "closed_state": _row(closed_state, (Q, V), "q", "v"),
    "closed_posture": Quantity(
        (Q,),
        (Output("q", ("nq",), "rad, m"),),
        closed_posture,
        STATE,
        options=("bounds", "quaternions"),
        guarded=True,
    ),
    "check_state": Quantity(
        (Q, V),
        (Output("zero", (), "1"),),
        lambda t: {"zero": 0.0},
        Constrained(check_state, ("groups", *CHECKED)),
        guarded=True,
    ),
    "mobility": Quantity(
        (Q,),
        (Output("dof", (), "1"),),
        lambda t: {"dof": float(t.model.nv)},
        Constrained(mobility, ("groups", *CHECKED)),
        options=("controlled",),
        guarded=True,
    ),
}
