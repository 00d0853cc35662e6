"""Forces and accelerations of trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from robodyn.equations.forces.between_links import generalised
from robodyn.equations.forces.gear_losses import LossyGears
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.tree import newton_euler
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist

#: Hybrid dynamics: accelerations and forces of all speeds, and perhaps multipliers.
Found = tuple[list[Number], ...]
#: As a function of accelerations, forces and controlled speeds.
Sweep = Callable[[list[Number], list[Number], frozenset[int]], Found]


def gears_of(t: Tracer) -> LossyGears:
    """The gears that lose power, at the state of a program."""
    motors = [motor.joint for motor in t.model.motors]
    setup = t.setup
    return LossyGears(setup.gear_losses, t.state, setup.friction_speed, motors, t.link)


def with_gear_losses(t: Tracer, sweep: Sweep) -> Sweep:
    """Hybrid dynamics that include what gears lose; the same ones where none does."""
    if not t.setup.gear_losses:
        return sweep
    return lambda a, tau, mask: _lossy(t, sweep, a, tau, mask)[0]


def gear_friction(
    t: Tracer, sweep: Sweep, a: list[Number], tau: list[Number], mask: frozenset[int]
) -> list[Number]:
    """Forces that gears lose in hybrid dynamics, which are those without losses."""
    return _lossy(t, sweep, a, tau, mask)[1] if t.setup.gear_losses else t.zeros


def _lossy(
    t: Tracer, sweep: Sweep, a: list[Number], tau: list[Number], mask: frozenset[int]
) -> tuple[Found, list[Number]]:
    """Hybrid dynamics with losses, and the forces lost."""
    gears, own = gears_of(t), t.passive()

    def without(lost: Sequence[Number]) -> Found:
        return sweep(list(a), _less(tau, gears.spread(lost)), mask)

    def carried(found: Found) -> list[Number]:
        return gears.carried(found[0], _less(found[1], own))

    held = gears.within(mask)
    none: list[Number] = [0.0] * len(held)
    x0, columns = carried(without(none)), []
    for k, is_held in enumerate(held):
        unit: list[Number] = [float(j == k) for j in range(len(held))]
        columns.append(none if is_held else _less(x0, carried(without(unit))))
    lost = gears.balanced(x0, [*zip(*columns, strict=True)])
    found = without([0.0 if is_held else x for x, is_held in zip(lost, held, strict=True)])
    forces = gears.spread(lost)
    total = [x + y for x, y in zip(found[1], forces, strict=True)]
    return (found[0], total, *found[2:]), forces


def forces_with_losses(t: Tracer, tau: list[Number]) -> list[Number]:
    """Forces of motors, with those that gears lose, for given accelerations."""
    if not t.setup.gear_losses:
        return tau
    gears = gears_of(t)
    lost = gears.spread(gears.lost(gears.carried(t.a, tau)))
    return [x + y for x, y in zip(tau, lost, strict=True)]


def _less(x: Sequence[Number], y: Sequence[Number]) -> list[Number]:
    return [a - b for a, b in zip(x, y, strict=True)]


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
