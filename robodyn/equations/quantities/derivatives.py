"""Inverse, forward and hybrid dynamics with all their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    Size,
    V,
    size_of,
)
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.dynamics import (
    ACCELERATIONS,
    CHECKED,
    FORCES,
    MOTORS,
    MULTIPLIERS_IF_ASKED,
)
from robodyn.results import HybridDerivatives


def _by(of: Output, *inputs: Input) -> tuple[Output, ...]:
    """An array, and its derivatives by some inputs; a coordinate is moved along its speed."""
    derivatives = (
        Output(
            f"d {of.name} / d {x.name}",
            (*of.shape, _columns(x)),
            f"({of.unit}) / ({x.unit})",
        )
        for x in inputs
    )
    return (of, *derivatives)


def _columns(x: Input) -> Size:
    """A column for each speed; by what some joints are given one for each of these, mostly."""
    if not x.by_joint:
        return "nv" if x is Q else x.size
    return lambda t: t.model.nv if t.options.get("all_columns") else size_of(x.size, t)


def _by_name(value: str, given: str) -> Callable[[Setup, Options], Callable[..., Any]]:
    """A dict of the value and its derivatives, by what they are derivatives by."""

    def made(found: tuple[Array, ...]) -> dict[str, Array]:
        of, by_q, by_v, by_given = found  # four times as fast as dict(zip(...))
        return {value: of, "q": by_q, "v": by_v, given: by_given}

    return lambda setup, options: made


def _of_all_joints(setup: Setup, options: Options) -> Callable[..., Any]:
    """The same of hybrid dynamics: pairs, with a column for each speed."""
    keys = ("hybrid_dynamics", "q", "v", "a", "tau")

    def made(found: tuple[Array, ...]) -> dict[str, HybridDerivatives]:
        pairs = map(HybridDerivatives, found[:5], found[5:])
        return dict(zip(keys, pairs, strict=True))

    return made


#: What hybrid dynamics are given: accelerations of some speeds, and forces of the others.
GIVEN = (Q, V, A_CONTROLLED, TAU_FREE)

#: Quantities by name.
ROWS = {
    "inverse_dynamics_derivatives": Quantity(
        (Q, V, A),
        _by(FORCES, Q, V, A),
        dynamics_derivatives.inverse_dynamics,
        Constrained(dynamics_derivatives.closed_inverse_dynamics, (*MOTORS, "possible", *CHECKED)),
        base=True,
        options=("wrenches",),
        parametric=True,
        result=_by_name("inverse_dynamics", "a"),
    ),
    "forward_dynamics_derivatives": Quantity(
        (Q, V, TAU),
        _by(ACCELERATIONS, Q, V, TAU),
        dynamics_derivatives.forward_dynamics,
        Constrained(
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
        GIVEN,
        (*_by(ACCELERATIONS, *GIVEN), *_by(FORCES, *GIVEN)),
        dynamics_derivatives.hybrid_dynamics,
        Constrained(dynamics_derivatives.hybrid_dynamics, ("groups", "stabilization", *CHECKED)),
        base=True,
        options=("wrenches", "controlled", "all_columns"),
        parametric=True,
        solves=True,
        result=_of_all_joints,
    ),
}
