"""Centre of mass, energies and momenta."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robodyn.equations.forces import between_links, in_joints, laws, planets
from robodyn.equations.forces.drives import gear_spring_energy
from robodyn.equations.quantities.common.quantity import STATE, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.common.tree_dynamics import elastic_forces, passive_forces
from robodyn.equations.tree import momentum
from robodyn.symbolic.scalar import Number


def center_of_mass(t: Tracer) -> Results:
    """Centre of mass of everything that moves, in the world."""
    return {"p": momentum.center_of_mass(t.state)}


def kinetic_energy(t: Tracer) -> Results:
    """Kinetic energy of all bodies and rotors, and of the base if it moves."""
    return {"T": momentum.kinetic_energy(t.state)}


def potential_energy(t: Tracer) -> Results:
    """Potential energy of gravity and of force elements."""
    U = momentum.potential_energy(t.state)
    return {"U": U + _elastic(t)}


def elastic_energy(t: Tracer) -> Results:
    """Potential energy of force elements that belong to the mechanism, ground and stops."""
    return {"U": _elastic(t)}


def energy_and_power(t: Tracer) -> Results:
    """Both energies, and the power of the passive forces that follow from none."""
    of_rest = {name: x for name, x in t.numbers.items() if name != "v"}
    resting = replace(t, numbers=of_rest, kept={})
    taken: Any = passive_forces(t)["tau"]
    kept: Any = elastic_forces(resting)["tau"]
    power = sum((v * (x - y) for v, x, y in zip(t.v, taken, kept, strict=True)), start=0.0)
    return {**kinetic_energy(t), **potential_energy(t), "P": power}


def _elastic(t: Tracer) -> Number:
    ground = between_links.energy(t.state, t.ground)
    total = ground + gear_spring_energy(t.setup.gear_springs, t.state)
    total = total + in_joints.joint_energy(t.state, passive=False)
    if not t.setup.passive:
        return total
    joints = total + in_joints.joint_energy(t.state, passive=True)
    links = between_links.energy(t.state, t.link_elements)
    given = laws.energy(t.state, t.laws, t.link)
    return joints + links + (given + planets.energy(t.state, t.setup.planets, t.setup.free_rotors))


def total_momentum(t: Tracer) -> Results:
    """Momentum about the centre of mass, in world axes."""
    return {"momentum": momentum.momentum(t.state)}


def centroidal_matrix(t: Tracer) -> Results:
    """Momentum about the centre of mass per unit of each speed."""
    return {"A": momentum.centroidal_matrix(t.state)}


#: Quantities by name.
ROWS = {
    "center_of_mass": Quantity((Q,), (Output("p", (3,), "m"),), center_of_mass, STATE, base=True),
    "kinetic_energy": Quantity(
        (Q, V), (Output("T", (), "J"),), kinetic_energy, STATE, base=True, parametric=True
    ),
    "potential_energy": Quantity(
        (Q,), (Output("U", (), "J"),), potential_energy, STATE, base=True, parametric=True
    ),
    "energy_and_power": Quantity(
        (Q, V),
        (Output("T", (), "J"), Output("U", (), "J"), Output("P", (), "W")),
        energy_and_power,
        STATE,
        base=True,
    ),
    "elastic_energy": Quantity((Q,), (Output("U", (), "J"),), elastic_energy, STATE, base=True),
    "momentum": Quantity(
        (Q, V), (Output("momentum", (6,), "kg m/s, kg m^2/s"),), total_momentum, STATE, base=True
    ),
    "centroidal_matrix": Quantity(
        (Q,), (Output("A", (6, "nv"), "kg m, kg m^2"),), centroidal_matrix, STATE, base=True
    ),
}
