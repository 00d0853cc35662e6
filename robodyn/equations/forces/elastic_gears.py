"""Springs of elastic gears, as forces on the joints of their outputs and on those they drive."""

from __future__ import annotations

from collections.abc import Iterable

from robodyn.description.drive import GearSpring
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number, clip, maximum, minimum, where


def gear_spring_forces(gears: Iterable[GearSpring], state: State) -> dict[int, Number]:
    """Force along the joint of each body.

    With play, the damper acts where the teeth touch, and never pulls them together.
    """
    bodies = {x.description.name: x.index for x in state.model}
    forces: dict[int, Number] = {}
    for gear in gears:
        i, j = bodies[gear.motor], bodies[gear.joint]
        wound, rate = state[i].q[0] - state[j].q[0], state[i].v[0] - state[j].v[0]
        stretch = _stretch(gear, wound)
        force = stretch * gear.elastic.stiffness + rate * gear.elastic.damping
        if gear.backlash:
            behind = where(stretch < 0.0, minimum(force, 0.0), 0.0)
            force = where(stretch > 0.0, maximum(force, 0.0), behind)
        forces[i] = forces.get(i, 0.0) - force
        forces[j] = forces.get(j, 0.0) + force
    return forces


def gear_spring_energy(gears: Iterable[GearSpring], state: State) -> Number:
    """Elastic energy of the springs."""
    bodies = {x.description.name: x.index for x in state.model}
    total: Number = 0.0
    for gear in gears:
        wound = state[bodies[gear.motor]].q[0] - state[bodies[gear.joint]].q[0]
        stretch = _stretch(gear, wound)
        total = total + stretch * stretch * (0.5 * gear.elastic.stiffness)
    return total


def _stretch(gear: GearSpring, wound: Number) -> Number:
    """Of the spring, after the play."""
    play = 0.5 * gear.backlash
    return wound - clip(wound, -play, play) if play else wound
