"""Inverse, forward and hybrid dynamics with all their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.quantities.common import dynamics_derivatives
from robodyn.equations.quantities.common.quantity import (
    A_CONTROLLED,
    TAU,
    TAU_FREE,
    A,
    Constrained,
    Input,
    Options,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.dynamics import (
    ACCELERATIONS,
    CHECKED,
    FORCES,
    MULTIPLIERS_IF_ASKED,
)
from robodyn.results import HybridDerivatives

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


def _by_name(value: str, given: str) -> Callable[[Setup, Options], Callable[..., Any]]:
    """A dict of the value and its derivatives, by what they are derivatives by."""
    keys = (value, "q", "v", given)
    return lambda setup, options: lambda found: dict(zip(keys, found, strict=True))


def _of_all_joints(setup: Setup, options: Options) -> Callable[..., Any]:
    """The same of hybrid dynamics: pairs, with a column for each speed."""
    driven, nv = options["controlled"], setup.model.nv
    free = [k for k in range(nv) if k not in driven]
    keys = ("hybrid_dynamics", "q", "v", "a", "tau")

    def over(columns: Array, speeds: Sequence[int]) -> Array:
        whole = np.zeros((*columns.shape[:-1], nv), columns.dtype)
        whole[..., speeds] = columns
        return whole

    def made(found: tuple[Array, ...]) -> dict[str, HybridDerivatives]:
        both = [
            (value, by_q, by_v, over(by_a, list(driven)), over(by_tau, free))
            for value, by_q, by_v, by_a, by_tau in (found[:5], found[5:])
        ]
        pairs = zip(*both, strict=True)
        return {key: HybridDerivatives(*pair) for key, pair in zip(keys, pairs, strict=True)}

    return made


#: What hybrid dynamics are given: accelerations of some speeds, and forces of the others.
GIVEN = (Q, V, A_CONTROLLED, TAU_FREE)

#: Quantities by name.
ROWS = {
    "inverse_dynamics_derivatives": Quantity(
        inputs=(Q, V, A),
        outputs=_by(FORCES, Q, V, A),
        trace=dynamics_derivatives.inverse_dynamics,
        closed=Constrained(
            dynamics_derivatives.closed_inverse_dynamics,
            ("dependent", "order", "scales", "possible", *CHECKED),
        ),
        base=True,
        options=("wrenches",),
        parametric=True,
        result=_by_name("inverse_dynamics", "a"),
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
        result=_by_name("forward_dynamics", "tau"),
    ),
    "hybrid_dynamics_derivatives": Quantity(
        inputs=GIVEN,
        outputs=(*_by(ACCELERATIONS, *GIVEN), *_by(FORCES, *GIVEN)),
        trace=dynamics_derivatives.hybrid_dynamics,
        closed=Constrained(
            dynamics_derivatives.hybrid_dynamics, ("groups", "stabilization", *CHECKED)
        ),
        base=True,
        options=("wrenches", "controlled"),
        parametric=True,
        solves=True,
        result=_of_all_joints,
    ),
}
