"""Forces and accelerations of closed linkages, by rows of the constraints that are independent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robodyn.equations.elimination import constrained, partition, singularity
from robodyn.equations.elimination.constrained import FreeSystem, least_norm
from robodyn.equations.loops.constraint_violation import if_closed
from robodyn.equations.quantities.common import long_linkages
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.common.tree_dynamics import (
    Found,
    applied_forces,
    forces_with_losses,
    gear_friction,
    with_controlled,
    with_gear_losses,
)
from robodyn.equations.tree import composite_body, newton_euler
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, sqrt


def _sweep(
    t: Tracer, a: list[Number], tau: list[Number], mask: frozenset[int]
) -> tuple[list[Number], list[Number], list[Number]]:
    if not t.setup.closed or "rows" not in t.options:
        return partition.closed_hybrid_dynamics(t.state, a, tau, mask, t.wrenches, ())
    if long_linkages.preferred(t, mask):
        return long_linkages.hybrid_dynamics(t, a, tau, mask)
    turned = t.turned_rows
    a, tau, lam = partition.closed_hybrid_dynamics(
        t.state, a, tau, mask, t.wrenches, turned.rows, t.options.get("groups", ())
    )
    return a, tau, turned.back(lam)


def forward_dynamics(t: Tracer) -> Results:
    """Accelerations, and multipliers of the chosen rows."""
    a, multipliers = accelerations(t)
    return {"a": if_forward_is_regular(t, a), "multipliers": multipliers}


def accelerations(t: Tracer) -> tuple[list[Number], list[Number]]:
    """Accelerations and multipliers of forward dynamics, of trees too."""
    sweep = with_gear_losses(t, partial(_sweep, t))
    a, _, multipliers = sweep(t.zeros, applied_forces(t), frozenset())
    return a, multipliers


def lost_in_gears(t: Tracer) -> Results:
    """Forces that gears lose, for forces of the motors."""
    sweep = partial(_sweep, t)
    lost = gear_friction(t, sweep, t.zeros, applied_forces(t), frozenset())
    return {"tau": if_forward_is_regular(t, lost)}


def if_forward_is_regular(t: Tracer, values: list[Number]) -> list[Number]:
    """Values that depend on all rows, some NaN near singular postures."""
    if "probe" in t.options:
        speeds = range(t.model.nv)
        values = if_rows_are_regular(t, values, speeds, t.options["probe"])
    return if_closed_state(t, values)


def if_rows_are_regular(
    t: Tracer, values: list[Number], speeds: Sequence[int], probe: singularity.Probe
) -> list[Number]:
    """Values, one of them NaN if the rows are nearly dependent over some speeds."""
    controlled = frozenset(range(t.model.nv)) - {*speeds}
    if long_linkages.preferred(t, controlled):
        return singularity.if_regular(
            values, long_linkages.conditioning(t, controlled, probe), probe
        )
    turned = t.turned_rows
    weak = system_of(t, turned.rows, speeds).energy(turned.turned(probe.right))
    return singularity.if_regular(values, weak, probe)


def hybrid_dynamics(t: Tracer) -> Results:
    """Accelerations, forces and multipliers; the rows are independent in the free speeds."""
    found, lam = _hybrid(t)
    least = least_multipliers(t, lam) if t.options.get("least_multipliers") else []
    return {**found, "multipliers": least}


def hybrid_with_multipliers(t: Tracer) -> Results:
    """Accelerations, forces and multipliers, which are always of least norm."""
    found, lam = _hybrid(t)
    return {**found, "multipliers": least_multipliers(t, lam)}


def hybrid(t: Tracer) -> tuple[list[Number], list[Number]]:
    """Accelerations and forces of hybrid dynamics, of trees too."""
    found = with_controlled(t, partial(_sweep, t))
    return found["a"], found["tau"]


def _hybrid(t: Tracer) -> tuple[Results, list[Number]]:
    """Accelerations and forces, and multipliers of the chosen rows."""
    lam: list[Number] = []

    def sweep(a: list[Number], tau: list[Number], mask: frozenset[int]) -> Found:
        a, tau, lam[:] = _sweep(t, a, tau, mask)  # the last one is that with all losses
        return a, tau

    found = with_controlled(t, sweep)
    return {**found, "a": if_hybrid_is_regular(t, found["a"])}, lam


def if_hybrid_is_regular(t: Tracer, a: list[Number]) -> list[Number]:
    """Accelerations, some NaN if those of free speeds are not determined."""
    if "probe" in t.options:
        a = if_rows_are_regular(t, a, t.free, t.options["probe"])
    return if_closed_state(t, a)


def least_multipliers(t: Tracer, lam: Sequence[Number]) -> list[Number]:
    """Multipliers of all rows, of least norm, equivalent to those of the chosen ones."""
    chosen = t.options["rows"]
    others = [k for k in range(len(t.all_rows)) if k not in chosen]
    own, rest = least_norm(t.rows, [t.all_rows[k] for k in others], lam)
    found = dict(zip((*chosen, *others), (*own, *rest), strict=True))
    return [found[k] for k in range(len(t.all_rows))]


def loop_corrections(t: Tracer) -> Results:
    """Steps of position and speed that bring a state that has drifted back to closed loops."""
    controlled = frozenset(t.options["controlled"])
    rows = t.rows if long_linkages.preferred(t, controlled) else t.turned_rows.rows
    gaps = [row.residual for row in rows]
    rates = [row.rate(t.v) for row in rows]
    dq, dv = least_changes(t, controlled, rows, [gaps, rates])
    return {"dq": dq, "dv": dv, "gap": sqrt(sum((x * x for x in gaps), 0.0))}


def least_changes(
    t: Tracer,
    controlled: frozenset[int],
    rows: Sequence[Row],
    openings: Sequence[Sequence[Number]],
) -> list[list[Number]]:
    """The changes of least norm with ``K x = -e``, one for each ``e`` of ``openings``.

    The norm is kinetic energy, as of a stroke of the loops: ``M x = K^T y`` [Hairer, Lubich, Wanner
    2006, IV.4]. What is controlled does not change. The rows of long linkages are those that were
    chosen.
    """
    if long_linkages.preferred(t, controlled):
        return long_linkages.least_changes(t, controlled, openings)
    free = [k for k in range(t.model.nv) if k not in controlled]
    return list(map(system_of(t, rows, free).still, openings))


def system_of(t: Tracer, rows: Sequence[Row], speeds: Sequence[int]) -> FreeSystem:
    """The equations of some rows over some speeds."""
    M, groups = composite_body.mass_matrix(t.state), t.options.get("groups", ())
    return FreeSystem(M, rows, speeds, t.model.light, groups)


def loop_conditioning(t: Tracer) -> Results:
    """Measure of the nearness to a singular posture, by the multipliers of a probe."""
    probe = t.options.get("probe")
    if probe is not None and long_linkages.preferred(t, frozenset()):
        return {"conditioning": long_linkages.conditioning(t, frozenset(), probe)}
    rows = t.rows
    if probe is None:  # of all rows but those that hold whatever the linkage does
        rows = [row for row in rows if any(row.jacobian.values())]
        probe = singularity.Probe((1.0,) * len(rows))
    return {"conditioning": system_of(t, rows, range(t.model.nv)).energy(probe.right)}


def inverse_dynamics(t: Tracer) -> Results:
    """Forces at the motors, and the violation of the loops by ``a``."""
    tau = forces_with_losses(t, motor_forces(t)[0])
    return {"tau": if_motors_can(t, tau), "gap": _gap(t)}


def _gap(t: Tracer) -> list[Number]:
    """Accelerations at which ``a`` opens the loops."""
    return [row.acceleration(t.a) for row in t.rows]


def if_motors_can(t: Tracer, values: list[Number]) -> list[Number]:
    """Values that depend on forces of motors, some NaN if these are not determined."""
    if "possible" in t.options:
        values = constrained.if_possible(values, _gap(t), t.a, t.options["possible"])
    if "probe" in t.options:
        probe = t.options["probe"]
        values = singularity.if_regular(values, _motor_conditioning(t, probe), probe)
    return if_closed_state(t, values)


def _motor_conditioning(t: Tracer, probe: singularity.Probe) -> Number:
    if "motors" in t.options:  # no masses enter the forces but those in what is needed
        nv = t.model.nv
        unit: composite_body.Matrix = [[float(i == j) for j in range(nv)] for i in range(nv)]
        system = FreeSystem(unit, t.rows, range(nv), {}, t.options.get("groups", ()))
        return system.energy(probe.right)
    choice = (t.options[x] for x in ("dependent", "order", "scales"))
    return singularity.motor_conditioning(t.rows, t.model.nv, probe, *choice)


def motor_forces(t: Tracer) -> tuple[list[Number], list[Number]]:
    """Forces at the motors that produce ``a``, if it keeps the loops closed, and multipliers."""
    tau = newton_euler.inverse_dynamics(t.state, t.a, t.wrenches)
    needed = [x - p for x, p in zip(tau, t.passive(), strict=True)]
    if "motors" in t.options:
        motors, scales = t.options["motors"], t.options["scales"]
        return constrained.least_motor_forces(
            needed, t.rows, motors, scales, t.options.get("groups", ())
        )
    dependent, order, scales = (t.options[x] for x in ("dependent", "order", "scales"))
    return constrained.motor_forces(needed, t.rows, dependent, order, scales)


def if_closed_state(t: Tracer, values: list[Number]) -> list[Number]:
    """Values, some NaN if the state is open by more than a tolerance that is given."""
    tolerance = t.options.get("closure_tolerance")
    return values if tolerance is None else if_closed(values, t.violation, tolerance)
