"""Inverse, forward and hybrid dynamics with all their derivatives."""

from __future__ import annotations

from robodyn.equations.quantities.common import dynamics_derivatives
from robodyn.equations.quantities.common.quantity import (
    A_CONTROLLED,
    TAU,
    TAU_FREE,
    A,
    Constrained,
    Input,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.quantities.dynamics import (
    ACCELERATIONS,
    CHECKED,
    FORCES,
    MULTIPLIERS_IF_ASKED,
)

__all__ = ["ROWS"]


def _by(of: Output, *inputs: Input) -> tuple[Output, ...]:
    """An array, and its derivatives by some inputs; a coordinate is moved along its speed."""
    derivatives = (
        Output(
            f"d {of.name} / d {x.name}",
            (*of.shape, "nv" if x is Q else x.size),
            f"({of.unit}) / ({x.unit})",
        )
        for x in inputs
    )
    return (of, *derivatives)


#: What hybrid dynamics are given: accelerations of some speeds, and forces of the others.
GIVEN = (Q, V, A_CONTROLLED, TAU_FREE)

#: Quantities by name.
ROWS = {
    "inverse_dynamics_derivatives": Quantity(
        inputs=(Q, V, A),
        outputs=_by(FORCES, Q, V, A),
        trace=dynamics_derivatives.inverse_dynamics,
        closed=Constrained(
            dynamics_derivatives.closed_inverse_dynamics, ("dependent", "order", "scales")
        ),
        base=True,
        options=("wrenches",),
        parametric=True,
    ),
    "forward_dynamics_derivatives": Quantity(
        inputs=(Q, V, TAU),
        outputs=_by(ACCELERATIONS, Q, V, TAU),
        trace=dynamics_derivatives.forward_dynamics,
        closed=Constrained(
            dynamics_derivatives.forward_dynamics,
            ("groups", "multipliers", "stabilization", *CHECKED),
            (MULTIPLIERS_IF_ASKED,),
        ),
        base=True,
        options=("wrenches",),
        parametric=True,
        solves=True,
    ),
    "hybrid_dynamics_derivatives": Quantity(
        inputs=GIVEN,
        outputs=(*_by(ACCELERATIONS, *GIVEN), *_by(FORCES, *GIVEN)),
        trace=dynamics_derivatives.hybrid_dynamics,
        closed=Constrained(dynamics_derivatives.hybrid_dynamics, ("groups", "stabilization")),
        base=True,
        options=("wrenches", "controlled"),
        parametric=True,
        solves=True,
    ),
}
