"""Currents of windings: the torque that they make, and the back-EMF that they feel."""

from __future__ import annotations

from collections.abc import Iterable

from robodyn.description.drive import WindingCurrent
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number


def winding_forces(windings: Iterable[WindingCurrent], state: State) -> dict[int, Number]:
    """Force along the joint of each body; together they do no work."""
    bodies = {x.description.name: x.index for x in state.model}
    forces: dict[int, Number] = {}
    for x in windings:
        i, j, k = bodies[x.winding], bodies[x.motor], x.constant * x.ratio
        forces[i] = forces.get(i, 0.0) - state[j].v[0] * k
        forces[j] = forces.get(j, 0.0) + state[i].v[0] * k
    return forces
