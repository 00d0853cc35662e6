"""Forces and accelerations of trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from robodyn.equations.forces.between_links import generalised
from robodyn.equations.quantities.common.lossy_gears import (
    Sweep,
    forces_with_losses,
    gear_friction,
    with_gear_losses,
)
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.tree import newton_euler
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist

#: An algorithm for hybrid dynamics of trees; see `partition.hybrid_dynamics`.
TreeSweep = Callable[..., tuple[list[Number], list[Number]]]


def inverse_dynamics(t: Tracer) -> Results:
    """Forces at the joints, minus those of damping, friction and springs.

    Those of the tree of a linkage are without the losses of gears, as its motors carry others.
    """
    needed = lossless_dynamics(t)["tau"]
    return {"tau": needed if t.setup.closed else forces_with_losses(t, needed)}


def lossless_dynamics(t: Tracer) -> dict[str, list[Number]]:
    """The same without the losses of gears, which are linear in accelerations."""
    tau = newton_euler.inverse_dynamics(t.state, t.a, t.wrenches)
    return {"tau": [x - p for x, p in zip(tau, t.passive(), strict=True)]}


def passive_forces(t: Tracer) -> Results:
    """Forces of damping, friction and springs, in joints and between links."""
    between_links = generalised(t.state, t.passive_wrenches)
    return {"tau": [x + y for x, y in zip(t.passive(), between_links, strict=True)]}


def elastic_forces(t: Tracer) -> Results:
    """Forces with a potential: of springs, stops, the ground, and laws that have one.

    Nothing moves, the base neither.
    """
    t.laws = [law for law in t.laws if law.energy is not None]
    t.state = replace(t.state, base=replace(t.base, V=Twist(), A=Twist()))
    return passive_forces(t)


def applied_forces(t: Tracer) -> list[Number]:
    """Forces of motors, damping and friction at the joints."""
    return [x + p for x, p in zip(t.numbers["tau"], t.passive(), strict=True)]


def forward_dynamics(algorithm: TreeSweep) -> Trace:
    """Accelerations, by an algorithm for hybrid dynamics of trees."""

    def traced(t: Tracer) -> Results:
        sweep = with_gear_losses(t, _sweep(t, algorithm))
        return {"a": sweep(t.zeros, applied_forces(t), frozenset())[0]}

    return traced


def hybrid_dynamics(algorithm: TreeSweep) -> Trace:
    """Accelerations and forces, by an algorithm for hybrid dynamics of trees."""
    return lambda t: with_controlled(t, _sweep(t, algorithm))


def lost_in_gears(algorithm: TreeSweep) -> Trace:
    """Forces that gears lose, for forces of the motors."""

    def traced(t: Tracer) -> Results:
        lost = gear_friction(t, _sweep(t, algorithm), t.zeros, applied_forces(t), frozenset())
        return {"tau": lost}

    return traced


def _sweep(t: Tracer, algorithm: TreeSweep) -> Sweep:
    if "moves" in t.numbers:
        moves = t.numbers["moves"]
        return lambda a, tau, mask: algorithm(t.state, a, tau, mask, t.wrenches, moves)
    return lambda a, tau, mask: algorithm(t.state, a, tau, mask, t.wrenches)


def with_controlled(t: Tracer, sweep: Sweep) -> dict[str, list[Number]]:
    """Accelerations and forces of all speeds, some of which are controlled."""
    controlled = t.options["controlled"]
    a, tau, given, own = t.zeros, t.zeros, t.zeros, t.passive()
    for k, x in zip(controlled, t.numbers["a_controlled"], strict=True):
        a[k] = x
    for k, x in zip(t.free, t.numbers["tau_free"], strict=True):
        given[k], tau[k] = x, x + own[k]
    mask = frozenset(controlled)
    a, tau, *_ = with_gear_losses(t, sweep)(a, tau, mask)
    tau = [tau[k] - own[k] if k in mask else given[k] for k in range(t.model.nv)]
    return {"a": a, "tau": tau}
