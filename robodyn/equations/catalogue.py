"""All quantities by name: their inputs, options and equations; a program is traced from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.equations import quantities
from robodyn.equations.loops import partition
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.quantities import Results
from robodyn.equations.tracer import Setup, Tracer
from robodyn.equations.tree import articulated_body
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import edge_of

__all__ = ["CLOSED", "QUANTITIES", "Quantity", "Rival", "Setup", "programs", "trace"]

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
class Rival:
    """Another algorithm for the same quantity; the one with fewer operations is taken.

    Attributes
    ----------
    trace : callable
        As of `Quantity`.
    certain : callable
        Whether it is known to have fewer operations, for a model and the speeds that are
        controlled, so that no other need be traced.
    chained : bool
        It is not for mechanisms whose bodies are coupled across more than one joint.
    """

    trace: Callable[[Tracer], Results]
    certain: Callable[[MechanismModel, frozenset[int]], bool]
    chained: bool = False


@dataclass(frozen=True)
class Quantity:
    """One row of the catalogue: all that there is to say about a quantity.

    Attributes
    ----------
    inputs : tuple of str
        Keys of `INPUTS`.
    trace : callable
        Writes down the equations: from a `Tracer` to the outputs.
    base : bool
        The motion of a moving base enters.
    options : tuple of str
        Choices that shape the code, such as ``"frame"``.
    parametric : bool
        Inertial parameters may be an input, by the option ``parameters=True``.
    solves : bool
        It solves for the accelerations of the free speeds, so that these must move mass.
    multipliers : bool
        Multipliers of the constraints of a closed linkage are an input.
    rivals : tuple of Rival
        Other algorithms for it.
    closed : Quantity or None
        Its form for closed linkages, where the rows of the constraints to use are chosen.
    """

    inputs: tuple[str, ...]
    trace: Callable[[Tracer], Results]
    base: bool = False
    options: tuple[str, ...] = ()
    parametric: bool = False
    solves: bool = False
    multipliers: bool = False
    rivals: tuple[Rival, ...] = ()
    closed: Quantity | None = None


FRAME = ("frame", "relative_to", "axes")
LOADS = ("wrenches",)

_q = quantities

#: All quantities by name.
QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(
        ("q", "v", "a"),
        _q.inverse_dynamics,
        base=True,
        options=LOADS,
        parametric=True,
        closed=Quantity(
            ("q", "v", "a"),
            _q.closed_inverse,
            base=True,
            options=(*LOADS, "rows", "dependent", "order", "possible"),
            parametric=True,
        ),
    ),
    "forward_dynamics": Quantity(
        ("q", "v", "tau"),
        _q.forward(partition.hybrid_dynamics),
        base=True,
        options=LOADS,
        parametric=True,
        solves=True,
        rivals=(Rival(_q.forward(articulated_body.hybrid_dynamics), articulated_body.deep, True),),
        closed=Quantity(
            ("q", "v", "tau"),
            _q.closed_forward,
            base=True,
            options=(*LOADS, "rows", "multipliers"),
            parametric=True,
            solves=True,
        ),
    ),
    "hybrid_dynamics": Quantity(
        ("q", "v", "a_controlled", "tau_free"),
        _q.hybrid(partition.hybrid_dynamics),
        base=True,
        options=(*LOADS, "controlled"),
        parametric=True,
        solves=True,
        rivals=(Rival(_q.hybrid(articulated_body.hybrid_dynamics), articulated_body.deep, True),),
        closed=Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            _q.closed_hybrid,
            base=True,
            options=(*LOADS, "controlled", "rows"),
            parametric=True,
            solves=True,
        ),
    ),
    "joint_wrenches": Quantity(
        ("q", "v", "a"),
        _q.joint_wrenches,
        base=True,
        options=(*LOADS, "joints"),
        parametric=True,
        multipliers=True,
    ),
    "joint_wrench_parts": Quantity(
        ("q", "v", "a"),
        _q.joint_wrench_parts,
        base=True,
        options=(*LOADS, "joints"),
        multipliers=True,
    ),
    "integrate": Quantity(("q", "dv"), _q.integrate),
    "tangent_rate": Quantity(("u", "v"), _q.tangent_rate),
    "loop_residual": Quantity(("q",), _q.loop_residual),
    "loop_jacobian": Quantity(("q",), _q.loop_jacobian),
    "loop_velocity_offset": Quantity(("q",), _q.loop_velocity_offset),
    "loop_bias": Quantity(("q", "v"), _q.loop_bias),
    "dependent_places": Quantity(("q",), _q.dependent_places),
    "dependent_speeds": Quantity(("q", "v"), _q.dependent_speeds),
    "dependent_speed_map": Quantity(("q",), _q.dependent_speed_map),
    "dependent_accelerations": Quantity(("q", "v", "a"), _q.dependent_accelerations),
    "regressor": Quantity(("q", "v", "a"), _q.regressor_matrix, base=True),
    "mass_matrix": Quantity(("q",), _q.mass_matrix, parametric=True),
    "mass_matrix_inverse": Quantity(("q",), _q.mass_matrix_inverse, parametric=True, solves=True),
    "bias_forces": Quantity(
        ("q", "v"), _q.inverse_dynamics, base=True, options=LOADS, parametric=True
    ),
    "gravity_forces": Quantity(("q",), _q.gravity_forces, base=True, parametric=True),
    "coriolis_matrix": Quantity(("q", "v"), _q.coriolis_matrix, parametric=True),
    "passive_forces": Quantity(("q", "v"), _q.passive_forces, base=True),
    "frame_pose": Quantity(("q",), _q.frame_pose, base=True, options=("frame", "relative_to")),
    "frame_twist": Quantity(("q", "v"), _q.frame_twist, base=True, options=FRAME),
    "frame_acceleration": Quantity(
        ("q", "v", "a"), _q.frame_acceleration, base=True, options=(*FRAME, "classical")
    ),
    "frame_jacobian": Quantity(("q",), _q.frame_jacobian, base=True, options=FRAME),
    "frame_jacobian_dot": Quantity(("q", "v"), _q.frame_jacobian_dot, base=True, options=FRAME),
    "center_of_mass": Quantity(("q",), _q.center_of_mass, base=True),
    "kinetic_energy": Quantity(("q", "v"), _q.kinetic_energy, base=True, parametric=True),
    "potential_energy": Quantity(("q",), _q.potential_energy, base=True, parametric=True),
    "momentum": Quantity(("q", "v"), _q.total_momentum, base=True),
    "centroidal_matrix": Quantity(("q",), _q.centroidal_matrix, base=True),
}

#: Names of the quantities that closed linkages have a form of their own for.
CLOSED = frozenset(name for name, quantity in QUANTITIES.items() if quantity.closed)

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
    quantity, options = _row(name, options), options or {}
    controlled = frozenset(options.get("controlled", ()))
    for rival in _rivals(quantity, setup):
        if rival.certain(setup.model, controlled):
            return _program(name, quantity, rival.trace, setup, options)
    found = programs(name, setup, options)
    return min(found, key=_cost) if len(found) > 1 else found[0]


def programs(name: str, setup: Setup, options: Mapping[str, Any] | None = None) -> list[Program]:
    """Programs of a quantity by each of its algorithms; parameters as in `trace`."""
    quantity = _row(name, options)
    algorithms = [quantity.trace, *(rival.trace for rival in _rivals(quantity, setup))]
    return [_program(name, quantity, x, setup, options or {}) for x in algorithms]


def _row(name: str, options: Mapping[str, Any] | None) -> Quantity:
    quantity = QUANTITIES[name]
    return quantity.closed if quantity.closed and "rows" in (options or {}) else quantity


def _rivals(quantity: Quantity, setup: Setup) -> list[Rival]:
    return [x for x in quantity.rivals if setup.model.chained or not x.chained]


def _program(
    name: str,
    quantity: Quantity,
    algorithm: Callable[[Tracer], Results],
    setup: Setup,
    options: Mapping[str, Any],
) -> Program:
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
    if setup.closed and quantity.multipliers:
        t.add("multipliers", (len(setup.row_names),), "N, N m")
    if options.get("parameters"):
        t.add("parameters", (10 * len(setup.model.bodies),), "kg, kg m, kg m^2")
    for link in options.get("wrenches", ()):
        t.add(f"wrench:{link}", (6,), "N, N m")
    results = algorithm(t)
    edges = tuple(edge_of(t.graph, x) for _, values in results for x in values)
    return Program(name, tuple(t.ports), tuple(port for port, _ in results), t.graph, edges)


def _cost(program: Program) -> float:
    return sum(COST[kind] * count for kind, count in program.operations().items())
