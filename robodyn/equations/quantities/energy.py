"""Energies and momenta."""

from __future__ import annotations

from robodyn.equations.quantities.tracer import Results, Tracer
from robodyn.equations.tree import force_elements, ground_contact, kinematics, momentum, passive
from robodyn.symbolic.scalar import Number

__all__ = ["elastic_energy", "kinetic_energy", "potential_energy", "total_momentum"]


def kinetic_energy(t: Tracer) -> Results:
    """Of all bodies and rotors, and of the base where it moves."""
    V = kinematics.twists(t.model, t.state, t.base)
    return {"T": momentum.kinetic_energy(t.model, t.state, V, t.setup.base_inertia)}


def potential_energy(t: Tracer) -> Results:
    """Of gravity and the ground, and of springs where they belong to the mechanism."""
    U = momentum.potential_energy(t.model, t.state, t.base, t.setup.base_inertia)
    return {"U": U + _elastic(t)}


def elastic_energy(t: Tracer) -> Results:
    """Of the ground, of stops, and of springs where they belong to the mechanism."""
    return {"U": _elastic(t)}


def _elastic(t: Tracer) -> Number:
    contacts = ground_contact.energy(t.model, t.state, t.base, t.contacts)
    total = contacts + passive.stop_energies(t.model, t.state)
    if not t.setup.passive:
        return total
    joints = total + passive.spring_energy(t.model, t.state)
    return joints + force_elements.energy(t.model, t.state, t.base, t.springs)


def total_momentum(t: Tracer) -> Results:
    """About the centre of mass, in world axes."""
    V = kinematics.twists(t.model, t.state, t.base)
    return {"momentum": momentum.momentum(t.model, t.state, V, t.base, t.setup.base_inertia)}
