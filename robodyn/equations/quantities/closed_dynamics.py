"""Forces and accelerations of closed linkages, by rows of the constraints that are independent."""

from __future__ import annotations

from robodyn.equations.loops import constrained, partition
from robodyn.equations.loops.openness import if_closed
from robodyn.equations.quantities.dynamics import applied_forces, with_controlled
from robodyn.equations.quantities.tracer import Results, Tracer
from robodyn.equations.tree import newton_euler
from robodyn.symbolic.scalar import Number

__all__ = ["forward_dynamics", "hybrid_dynamics", "inverse_dynamics"]


def _sweep(
    t: Tracer, a: list[Number], tau: list[Number], mask: frozenset[int]
) -> tuple[list[Number], list[Number], list[Number]]:
    return partition.closed_hybrid_dynamics(
        t.model, t.state, a, tau, mask, t.base, t.wrenches, t.rows
    )


def forward_dynamics(t: Tracer) -> Results:
    """Accelerations, and multipliers of the chosen rows."""
    a, _, multipliers = _sweep(t, t.zeros, applied_forces(t), frozenset())
    return {"a": _if_closed(t, a), "multipliers": multipliers}


def hybrid_dynamics(t: Tracer) -> Results:
    """Accelerations and forces; the rows are independent in the free speeds."""
    return with_controlled(t, lambda *given: _sweep(t, *given)[:2])


def inverse_dynamics(t: Tracer) -> Results:
    """Forces at the motors, and how far ``a`` is from closing the loops."""
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.a, t.base, t.wrenches)
    needed = [x - p for x, p in zip(tau, t.passive(), strict=True)]
    rows = t.rows
    tau, _ = constrained.motor_forces(needed, rows, t.options["dependent"], t.options["order"])
    gap = [sum((slope * t.a[k] for k, slope in row.jacobian.items()), row.bias) for row in rows]
    if "possible" in t.options:
        tau = constrained.if_possible(tau, gap, t.a, t.options["possible"])
    return {"tau": _if_closed(t, tau), "gap": gap}


def _if_closed(t: Tracer, values: list[Number]) -> list[Number]:
    """Values; not all of them numbers where the state is open by more than a tolerance, if any."""
    tolerance = t.options.get("closure_tolerance")
    return values if tolerance is None else if_closed(values, t.openness, tolerance)
