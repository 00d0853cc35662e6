"""Inverse-square gravity, as wrenches on bodies, and its energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.newton_euler import placements
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, RigidInertia, Wrench
from robodyn.symbolic.vector import Vec3


def wrenches(
    state: State, planets: Sequence[InverseSquareGravity], free_rotors: Sequence[int]
) -> Iterator[tuple[int, Wrench]]:
    """Wrenches of planets on bodies, about their origins in their axes."""
    for planet in planets:
        for i, inertia, X in _bodies(state, free_rotors):
            yield i, planet.wrench(inertia, X.R.inverse_times(X.p - Vec3.of(planet.center)))


def energy(
    state: State, planets: Sequence[InverseSquareGravity], free_rotors: Sequence[int]
) -> Number:
    """Potential energy of all bodies."""
    total: Number = 0.0
    for planet in planets:
        for _, inertia, X in _bodies(state, free_rotors):
            r = X.R.inverse_times(X.p - Vec3.of(planet.center))
            total = total + planet.energy(inertia, r)
    return total


def _bodies(
    state: State, free_rotors: Sequence[int]
) -> Iterator[tuple[int, RigidInertia, Placement]]:
    """Bodies that have an inertia, with their poses in the world.

    Free rotors are counted on their carriers: their inertia about their axis is the same however
    they are turned, and wherever on the carrier they are.
    """
    X = placements(state)
    bodies = {body.index: body.inertia for body in state.model}
    if state.base.inertia:
        bodies[BASE] = state.base.inertia
    for i in free_rotors:
        rotor = state.model.bodies[i]
        if rotor.parent in bodies:
            bodies[rotor.parent] += bodies.pop(i).in_parent(rotor.joint.X_PJ)
    for i, inertia in bodies.items():
        numbers = inertia.m, *inertia.h, *inertia.S
        if not all(isinstance(x, float) and x == 0.0 for x in numbers):
            yield i, inertia, X[i]
