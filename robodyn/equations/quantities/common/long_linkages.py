"""Which closed linkages are so long that articulated bodies take the fewest operations."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.elimination.articulated_loops import ArticulatedLoops, LoopRow
from robodyn.equations.loops.closure_rows import Closure, closure_wrenches
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import articulated_body
from robodyn.equations.tree.kinematics import body_motions
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.spatial import Wrench

__all__ = ["conditioning", "equations", "forward_dynamics", "preferred"]


def preferred(t: Tracer) -> bool:
    """Whether a linkage is long, and one that articulated bodies can do."""
    setup, model = t.setup, t.model
    special = setup.coupled or setup.constraints or t.options.get("groups") or model.lumped_rotors
    if special or model.light or not model.chained or not t.rows:
        return False
    return articulated_body.preferred(model, frozenset())


def equations(t: Tracer) -> ArticulatedLoops:
    """Masses and chosen rows of a linkage."""
    places = [(c, k) for c in t.setup.closures for k in range(c.kind.count)]
    chosen = t.options.get("rows", range(len(places)))
    rows = [
        LoopRow(_wrenches(t, closure, k), _carrier(t.model, closure))
        for closure, k in (places[row] for row in chosen)
    ]
    return ArticulatedLoops(t.model, t.state, rows)


def forward_dynamics(
    t: Tracer, linkage: ArticulatedLoops, tau: Sequence[Number]
) -> tuple[list[Number], list[Number]]:
    """Accelerations, and multipliers of the chosen rows."""
    motion = body_motions(t.model, t.state, t.zeros, t.base)
    p = {body.index: body.lumped.wrench(motion[body.index]) for body in t.model}
    for body, F in t.wrenches.items():
        if body != BASE:
            p[body] -= F
    return linkage.solve(p, tau, [row.bias for row in t.rows])


def conditioning(t: Tracer, linkage: ArticulatedLoops) -> Number:
    """How near the rows are to dependence; see `singularity.conditioning`."""
    probe = t.options["probe"]
    _, lam = linkage.solve({}, t.zeros, [-rate for rate in probe.right])
    return dot(lam, probe.weights)


def _wrenches(t: Tracer, closure: Closure, row: int) -> dict[int, Wrench]:
    unit = [float(k == row) for k in range(closure.kind.count)]
    on_predecessor, on_successor, _ = closure_wrenches(t.model, t.state, closure, unit)
    return {closure.predecessor: on_predecessor, closure.successor: on_successor}


def _carrier(model: MechanismModel, closure: Closure) -> int:
    """The last body on the way to both of the bodies that a closure joins."""
    to_predecessor, to_successor = model.chains(closure.predecessor, closure.successor)
    if to_predecessor:
        return model.bodies[to_predecessor[0]].parent
    return model.bodies[to_successor[0]].parent if to_successor else closure.predecessor
