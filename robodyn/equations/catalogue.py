"""All quantities by name: their inputs, options and equations; a program is traced from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.equations import quantities
from robodyn.equations.loops import partition
from robodyn.equations.quantities import Results
from robodyn.equations.tracer import Setup, Tracer
from robodyn.equations.tree import articulated_body
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import edge_of

__all__ = ["QUANTITIES", "Setup", "trace"]

#: Inputs by name: their size (nc controlled speeds, nf others), unit.
INPUTS: dict[str, tuple[str, str]] = {
    "q": ("nq", "rad, m"),
    "v": ("nv", "rad/s, m/s"),
    "a": ("nv", "rad/s^2, m/s^2"),
    "tau": ("nv", "N m, N"),
    "dv": ("nv", "rad, m"),
    "u": ("nv", "rad, m"),
    "a_controlled": ("nc", "rad/s^2, m/s^2"),
    "tau_free": ("nf", "N m, N"),
}


@dataclass(frozen=True)
class Quantity:
    """One row of the catalogue: which inputs, whether the base enters, options, how it is traced.

    ``chained``: not for mechanisms whose bodies are coupled across more than one joint.
    """

    inputs: tuple[str, ...]
    trace: Callable[[Tracer], Results]
    base: bool = False
    options: tuple[str, ...] = ()
    chained: bool = False


FRAME = ("frame", "relative_to", "axes")
FRAMES = ("frames", "relative_to", "axes")
LOADS = ("wrenches",)

_q = quantities

#: All quantities by name. Where two algorithms stand, the one with fewer operations is taken.
QUANTITIES: dict[str, tuple[Quantity, ...]] = {
    "inverse_dynamics": (Quantity(("q", "v", "a"), _q.inverse_dynamics, True, LOADS),),
    "forward_dynamics": tuple(
        Quantity(("q", "v", "tau"), _q.forward(algorithm.hybrid_dynamics), True, LOADS, chained)
        for algorithm, chained in ((partition, False), (articulated_body, True))
    ),
    "hybrid_dynamics": tuple(
        Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            _q.hybrid(algorithm.hybrid_dynamics),
            True,
            (*LOADS, "controlled"),
            chained,
        )
        for algorithm, chained in ((partition, False), (articulated_body, True))
    ),
    "joint_wrenches": (Quantity(("q", "v", "a"), _q.joint_wrenches, True, (*LOADS, "joints")),),
    "joint_wrench_parts": (
        Quantity(("q", "v", "a"), _q.joint_wrench_parts, True, (*LOADS, "joints")),
    ),
    "integrate": (Quantity(("q", "dv"), _q.integrate),),
    "tangent_rate": (Quantity(("u", "v"), _q.tangent_rate),),
    "loop_residual": (Quantity(("q",), _q.loop_residual),),
    "loop_jacobian": (Quantity(("q",), _q.loop_jacobian),),
    "loop_velocity_offset": (Quantity(("q",), _q.loop_velocity_offset),),
    "loop_bias": (Quantity(("q", "v"), _q.loop_bias),),
    "dependent_places": (Quantity(("q",), _q.dependent_places),),
    "dependent_speeds": (Quantity(("q", "v"), _q.dependent_speeds),),
    "dependent_speed_map": (Quantity(("q",), _q.dependent_speed_map),),
    "dependent_accelerations": (Quantity(("q", "v", "a"), _q.dependent_accelerations),),
    "regressor": (Quantity(("q", "v", "a"), _q.regressor_matrix, True),),
    "mass_matrix": (Quantity(("q",), _q.mass_matrix),),
    "mass_matrix_inverse": (Quantity(("q",), _q.mass_matrix_inverse),),
    "bias_forces": (Quantity(("q", "v"), _q.inverse_dynamics, True, LOADS),),
    "gravity_forces": (Quantity(("q",), _q.gravity_forces, True),),
    "coriolis_matrix": (Quantity(("q", "v"), _q.coriolis_matrix),),
    "passive_forces": (Quantity(("q", "v"), _q.passive_forces, True),),
    "frame_pose": (Quantity(("q",), _q.frame_pose, True, ("frame", "relative_to")),),
    "frame_twist": (Quantity(("q", "v"), _q.frame_twist, True, FRAME),),
    "frame_acceleration": (
        Quantity(("q", "v", "a"), _q.frame_acceleration, True, (*FRAME, "classical")),
    ),
    "frame_jacobian": (Quantity(("q",), _q.frame_jacobian, True, FRAME),),
    "frame_jacobian_dot": (Quantity(("q", "v"), _q.frame_jacobian_dot, True, FRAME),),
    "frame_poses": (Quantity(("q",), _q.frame_poses, True, ("frames", "relative_to")),),
    "frame_twists": (Quantity(("q", "v"), _q.frame_twists, True, FRAMES),),
    "frame_jacobians": (Quantity(("q",), _q.frame_jacobians, True, FRAMES),),
    "center_of_mass": (Quantity(("q",), _q.center_of_mass, True),),
    "kinetic_energy": (Quantity(("q", "v"), _q.kinetic_energy, True),),
    "potential_energy": (Quantity(("q",), _q.potential_energy, True),),
    "momentum": (Quantity(("q", "v"), _q.total_momentum, True),),
    "centroidal_matrix": (Quantity(("q",), _q.centroidal_matrix, True),),
}

#: Of closed linkages, where the rows of the constraints to use are chosen.
CLOSED: dict[str, tuple[Quantity, ...]] = {
    "inverse_dynamics": (
        Quantity(
            ("q", "v", "a"),
            _q.closed_inverse,
            True,
            (*LOADS, "rows", "dependent", "order", "possible"),
        ),
    ),
    "hybrid_dynamics": (
        Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            _q.closed_hybrid,
            True,
            (*LOADS, "controlled", "rows"),
        ),
    ),
    "forward_dynamics": (
        Quantity(("q", "v", "tau"), _q.closed_forward, True, (*LOADS, "rows", "multipliers")),
    ),
}

#: Cost of an operation in multiplications, to choose between algorithms.
COST = {"mul": 1.0, "add": 1.0, "div": 12.0, "sqrt": 15.0, "sincos": 12.0}


def trace(name: str, setup: Setup, options: Mapping[str, Any] | None = None) -> Program:
    """Program of a quantity.

    Parameters
    ----------
    name : str
        A key of `QUANTITIES`.
    setup : Setup
    options : mapping
        Choices that shape the program: ``wrenches``, ``frame``, ``relative_to``, ``axes``,
        ``classical``.
    """
    programs = []
    known = CLOSED if options and "rows" in options else QUANTITIES
    for quantity in known[name]:
        if quantity.chained and not setup.model.chained:
            continue
        programs.append(_traced(name, quantity, setup, options or {}))
    return min(programs, key=_cost) if len(programs) > 1 else programs[0]


def _traced(name: str, quantity: Quantity, setup: Setup, options: Mapping[str, Any]) -> Program:
    t = Tracer(setup, options)
    controlled = len(options.get("controlled", ()))
    sizes = {
        "nq": setup.model.nq,
        "nv": setup.model.nv,
        "nc": controlled,
        "nf": setup.model.nv - controlled,
    }
    for key in quantity.inputs:
        size, unit = INPUTS[key]
        t.add(key, (sizes[size],), unit)
    if setup.moving and quantity.base:
        t.add("base_pose", (4, 4), "1, m")
        t.add("base_twist", (6,), "m/s, rad/s")
        t.add("base_acceleration", (6,), "m/s^2, rad/s^2")
    if setup.closed and name.startswith("joint_wrench"):
        t.add("multipliers", (len(setup.row_names),), "N, N m")
    if options.get("parameters"):
        t.add("parameters", (10 * len(setup.model.bodies),), "kg, kg m, kg m^2")
    for link in options.get("wrenches", ()):
        t.add(f"wrench:{link}", (6,), "N, N m")
    results = quantity.trace(t)
    edges = tuple(edge_of(t.graph, x) for _, values in results for x in values)
    return Program(name, tuple(t.ports), tuple(port for port, _ in results), t.graph, edges)


def _cost(program: Program) -> float:
    return sum(COST[kind] * count for kind, count in program.operations().items())
