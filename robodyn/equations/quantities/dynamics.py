"""Mass and Coriolis matrices, inverse, forward and hybrid dynamics, and the forces in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.elimination import partition
from robodyn.equations.quantities.common import closed_dynamics, tree_dynamics
from robodyn.equations.quantities.common.quantity import (
    A_CONTROLLED,
    TAU,
    TAU_FREE,
    TREE_FORCES,
    A,
    Alternative,
    Constrained,
    Input,
    Options,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.tree import (
    articulated_body,
    composite_body,
    coriolis,
    newton_euler,
)
from robodyn.results import HybridDynamics


def mass_matrix(t: Tracer) -> Results:
    """Mass matrix by composite rigid bodies."""
    return {"M": composite_body.mass_matrix(t.state)}


def mass_matrix_inverse(t: Tracer) -> Results:
    """Inverse from the factorised mass matrix."""
    M = composite_body.mass_matrix(t.state)
    return {"M_inverse": composite_body.inverse(composite_body.factorize(M, t.model.light))}


def coriolis_matrix(t: Tracer) -> Results:
    """Coriolis matrix in Christoffel form, without the motion of the base."""
    return {"C": coriolis.coriolis_matrix(t.state)}


def _of_two_speeds(
    trace: Trace, name: str, unit: str, *given: Input, solves: bool = False
) -> Quantity:
    found = Output(name, ("nv", "nv"), unit)
    return Quantity(given, (found,), trace, TREE_FORCES, parametric=True, solves=solves)


FORCES = Output("tau", ("nv",), "N m, N")
ACCELERATIONS = Output("a", ("nv",), "rad/s^2, m/s^2")
MULTIPLIERS_IF_ASKED = Output(
    "multipliers", ("rows",), "N, N m", lambda x: bool(x.get("multipliers"))
)

#: Of all rows, while those above are of the rows that are chosen.
LEAST_MULTIPLIERS = Output("multipliers", (lambda t: len(t.setup.row_names),), "N, N m")

#: With these, results are not numbers where loops are open or the posture is nearly singular.
CHECKED = ("closure_tolerance", "probe")

#: Options that say how forces of motors are solved for.
MOTORS = ("dependent", "order", "scales", "motors", "groups")


def gravity_forces(t: Tracer) -> Results:
    """Forces of rigid bodies at rest."""
    return {"tau": newton_euler.inverse_dynamics(t.state, t.zeros, {})}


def _all_joints(setup: Setup, options: Options) -> Callable[..., HybridDynamics]:
    """What a method returns of hybrid dynamics; a tree has no multipliers."""
    if setup.closed:
        return partial(tuple.__new__, HybridDynamics)
    none = np.zeros(0)

    def of_tree(found: tuple[Array, Array]) -> HybridDynamics:
        a, tau = found
        batch = a.ndim > 1 or a.dtype != none.dtype
        return HybridDynamics(a, tau, np.zeros((*a.shape[:-1], 0), a.dtype) if batch else none)

    return of_tree


def guarded_row(
    inputs: tuple[Input, ...],
    outputs: tuple[Output, ...],
    trace: Trace,
    options: tuple[str, ...],
    result: Callable[[Setup, Options], Callable[..., Any]] | None = None,
) -> Quantity:
    """The row of what one trace solves for trees and linkages, but near singular postures."""
    closed = Constrained(trace, ("groups", "tangent_probe", *CHECKED))
    return Quantity(
        inputs, outputs, trace, closed, base=True, options=options, solves=True, guarded=True,
        result=result,
    )  # fmt: skip


def _articulated(
    trace: Callable[[tree_dynamics.TreeSweep], Trace],
) -> tuple[Alternative]:
    """The other algorithm for dynamics of trees."""
    by_bodies = trace(articulated_body.hybrid_dynamics)
    return (Alternative(by_bodies, articulated_body.preferred, chained=True),)


#: Quantities by name.
ROWS = {
    "mass_matrix": _of_two_speeds(mass_matrix, "M", "kg m^2, kg m, kg", Q),
    "mass_matrix_inverse": _of_two_speeds(
        mass_matrix_inverse, "M_inverse", "1/(kg m^2), 1/(kg m), 1/kg", Q, solves=True
    ),
    "coriolis_matrix": _of_two_speeds(coriolis_matrix, "C", "kg m^2/s, kg m/s, kg/s", Q, V),
    "inverse_dynamics": Quantity(
        (Q, V, A),
        (FORCES,),
        tree_dynamics.inverse_dynamics,
        Constrained(
            closed_dynamics.inverse_dynamics,
            (*MOTORS, "possible", *CHECKED),
            (Output("gap", ("rows",), "m/s^2, rad/s^2", lambda x: "possible" not in x),),
        ),
        base=True,
        options=("wrenches",),
        parametric=True,
    ),
    "forward_dynamics": Quantity(
        (Q, V, TAU),
        (ACCELERATIONS,),
        tree_dynamics.forward_dynamics(partition.hybrid_dynamics),
        Constrained(
            closed_dynamics.forward_dynamics,
            ("groups", "multipliers", "stabilization", *CHECKED),
            (MULTIPLIERS_IF_ASKED,),
        ),
        base=True,
        options=("wrenches", "friction_modes"),
        parametric=True,
        solves=True,
        alternatives=_articulated(tree_dynamics.forward_dynamics),
    ),
    "hybrid_dynamics": Quantity(
        (Q, V, A_CONTROLLED, TAU_FREE),
        (ACCELERATIONS, FORCES),
        tree_dynamics.hybrid_dynamics(partition.hybrid_dynamics),
        Constrained(
            closed_dynamics.hybrid_dynamics,
            ("groups", "stabilization", "least_multipliers", *CHECKED),
            (replace(LEAST_MULTIPLIERS, when=lambda x: bool(x.get("least_multipliers"))),),
        ),
        base=True,
        options=("wrenches", "controlled", "friction_modes"),
        parametric=True,
        solves=True,
        alternatives=_articulated(tree_dynamics.hybrid_dynamics),
        result=_all_joints,
    ),
    "gear_friction": Quantity(
        (Q, V, TAU),
        (FORCES,),
        tree_dynamics.lost_in_gears(partition.hybrid_dynamics),
        Constrained(closed_dynamics.lost_in_gears, ("groups", *CHECKED)),
        base=True,
        options=("wrenches",),
        solves=True,
    ),
    "bias_forces": Quantity(
        (Q, V),
        (FORCES,),
        tree_dynamics.lossless_dynamics,
        TREE_FORCES,
        base=True,
        options=("wrenches",),
        parametric=True,
    ),
    "gravity_forces": Quantity(
        (Q,), (FORCES,), gravity_forces, TREE_FORCES, base=True, parametric=True
    ),
    "elastic_forces": Quantity(
        (Q,), (FORCES,), tree_dynamics.elastic_forces, TREE_FORCES, base=True
    ),
    "passive_forces": Quantity(
        (Q, V), (FORCES,), tree_dynamics.passive_forces, TREE_FORCES, base=True
    ),
}
