"""Dynamics with the losses of gears, from dynamics without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.equations.forces.gear_losses import LossyGears
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.symbolic.scalar import Number

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
