"""Centre of mass, energies and momenta."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robodyn.equations.forces import between_links, in_joints, laws, planets
from robodyn.equations.quantities.common.quantity import STATE, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.common.tree_dynamics import elastic_forces, passive_forces
from robodyn.equations.tree import kinematics, momentum
from robodyn.symbolic.scalar import Number


def center_of_mass(t: Tracer) -> Results:
    """Centre of mass of everything that moves, in the world."""
    return {"p": momentum.center_of_mass(t.model, t.state, t.base, t.setup.base_inertia)}


def kinetic_energy(t: Tracer) -> Results:
    """Kinetic energy of all bodies and rotors, and of the base if it moves."""
    V = kinematics.twists(t.model, t.state, t.base)
    return {"T": momentum.kinetic_energy(t.model, t.state, V, t.setup.base_inertia)}


def potential_energy(t: Tracer) -> Results:
    """Potential energy of gravity and of force elements."""
    U = momentum.potential_energy(t.model, t.state, t.base, t.setup.base_inertia)
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
    ground = between_links.energy(t.model, t.state, t.base, t.ground)
    total = ground + in_joints.joint_energy(t.model, t.state, passive=False)
    if not t.setup.passive:
        return total
    joints = total + in_joints.joint_energy(t.model, t.state, passive=True)
    robot = t.model, t.state, t.base
    links = between_links.energy(*robot, t.link_elements)
    given = laws.energy(*robot, t.laws, t.link)
    given = given + planets.energy(
        *robot, t.setup.planets, t.setup.base_inertia, t.setup.free_rotors
    )
    return joints + links + given


def total_momentum(t: Tracer) -> Results:
    """Momentum about the centre of mass, in world axes."""
    V = kinematics.twists(t.model, t.state, t.base)
    return {"momentum": momentum.momentum(t.model, t.state, V, t.base, t.setup.base_inertia)}


def centroidal_matrix(t: Tracer) -> Results:
    """Momentum about the centre of mass per unit of each speed."""
    return {"A": momentum.centroidal_matrix(t.model, t.state, t.base, t.setup.base_inertia)}


#: Quantities by name.
ROWS = {
    "center_of_mass": Quantity(
        inputs=(Q,),
        outputs=(Output("p", (3,), "m"),),
        trace=center_of_mass,
        closed=STATE,
        base=True,
    ),
    "kinetic_energy": Quantity(
        inputs=(Q, V),
        outputs=(Output("T", (), "J"),),
        trace=kinetic_energy,
        closed=STATE,
        base=True,
        parametric=True,
    ),
    "potential_energy": Quantity(
        inputs=(Q,),
        outputs=(Output("U", (), "J"),),
        trace=potential_energy,
        closed=STATE,
        base=True,
        parametric=True,
    ),
    "energy_and_power": Quantity(
        inputs=(Q, V),
        outputs=(Output("T", (), "J"), Output("U", (), "J"), Output("P", (), "W")),
        trace=energy_and_power,
        closed=STATE,
        base=True,
    ),
    "elastic_energy": Quantity(
        inputs=(Q,),
        outputs=(Output("U", (), "J"),),
        trace=elastic_energy,
        closed=STATE,
        base=True,
    ),
    "momentum": Quantity(
        inputs=(Q, V),
        outputs=(Output("momentum", (6,), "kg m/s, kg m^2/s"),),
        trace=total_momentum,
        closed=STATE,
        base=True,
    ),
    "centroidal_matrix": Quantity(
        inputs=(Q,),
        outputs=(Output("A", (6, "nv"), "kg m, kg m^2"),),
        trace=centroidal_matrix,
        closed=STATE,
        base=True,
    ),
}
