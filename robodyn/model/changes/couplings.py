"""A description with couplings that its user gives: linear ones, and joints that are functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TypeAlias

from robodyn.description import Coupling, Limits, Mechanism
from robodyn.description.followers import in_order
from robodyn.description.functions.explicit_loop import ExplicitLoop, Follower
from robodyn.description.graph_check import unknown_links
from robodyn.errors import ShapeError, UnknownNameError

__all__ = ["AnyCoupling", "with_couplings_added"]

#: What ``couplings=`` takes.
AnyCoupling: TypeAlias = Coupling | Follower | ExplicitLoop


def with_couplings_added(mechanism: Mechanism, couplings: Iterable[AnyCoupling]) -> Mechanism:
    """A description with more couplings between joints.

    Raises
    ------
    UnknownNameError
        For joints that do not exist.
    TopologyError
        For joints that cannot follow, or be followed.
    ShapeError
        For a name that is taken, or something else than a coupling.
    """
    taken = {x.name for x in (*mechanism.loops, *mechanism.couplings, *mechanism.constraints)}
    taken |= {x.name for x in mechanism.followers}
    linear, traced = [], []
    for coupling in couplings:
        if not isinstance(coupling, AnyCoupling):
            raise ShapeError(
                f"one of couplings is {type(coupling).__name__}, expected a robodyn.Coupling, "
                "robodyn.Follower or robodyn.ExplicitLoop",
                name="couplings",
                given=type(coupling).__name__,
            )
        if coupling.name in taken:
            raise ShapeError(
                f"the name of {coupling!r} is taken by a loop or another coupling",
                name="couplings",
            )
        taken.add(coupling.name)
        if isinstance(coupling, Coupling):
            linear.append(coupling)
        else:
            _check_names(mechanism, coupling)
            traced.append(coupling.traced(_ranges(mechanism, coupling.independent)))
    mechanism = dataclasses.replace(
        mechanism,
        couplings=(*mechanism.couplings, *linear),
        followers=(*mechanism.followers, *traced),
    )
    if linear:
        for error in unknown_links(mechanism):
            raise error
    return in_order(mechanism)


def _ranges(mechanism: Mechanism, names: Iterable[str]) -> list[tuple[float, float]]:
    """Where joints may be: within their limits, and not farther than one radian or metre away."""
    limits = {mover.name: mover.limits or Limits() for mover in mechanism.movers}
    found = []
    for name in names:
        lower, upper = limits[name].lower, limits[name].upper
        nearest = min(max(0.0, lower), upper)
        found.append((max(lower, nearest - 1.0), min(upper, nearest + 1.0)))
    return found


def _check_names(mechanism: Mechanism, given: Follower | ExplicitLoop) -> None:
    known = [mover.name for mover in mechanism.movers]
    for name in (*given.independent, *given.dependent):
        if name not in known:
            raise UnknownNameError("joint", name, known, repr(given))
