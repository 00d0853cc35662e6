"""All quantities by name: their inputs, options and equations; a program is traced from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from robodyn.equations.loops import partition
from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.mechanism.state import BaseState
from robodyn.equations.quantities import (
    closed_dynamics,
    contacts,
    derivatives,
    dynamics,
    energy,
    frames,
    inverse_kinematics,
    loops,
    regressors,
    wrenches,
)
from robodyn.equations.quantities.tracer import Setup
from robodyn.equations.quantity import INPUTS, Output, Quantity, Rival, traced
from robodyn.equations.tree import (
    articulated_body,
    composite_body,
    coriolis,
    factorization,
    momentum,
    newton_euler,
    regressor,
)
from robodyn.symbolic.graph import Program
from robodyn.symbolic.vector import Vec3

__all__ = ["CLOSED", "QUANTITIES", "Quantity", "Rival", "Setup", "programs", "trace"]

FRAME = ("frame", "relative_to", "axes")
FRAMES = ("frames", "relative_to", "axes")
LOADS = ("wrenches",)
#: With these, results are not numbers where loops are open or the posture is nearly singular.
CHECKED = ("closure_tolerance", "probe")

TAU = Output("tau", ("nv",), "N m, N")
A = Output("a", ("nv",), "rad/s^2, m/s^2")


def _by(of: Output, *names: str) -> tuple[Output, ...]:
    """An array, and its derivatives by some inputs; a coordinate is moved along its speed."""
    columns = {"a_controlled": "controlled", "tau_free": "free"}
    slopes = (
        Output(
            f"d {of.name} / d {name}",
            (*of.shape, columns.get(name, "nv")),
            f"({of.unit}) / ({INPUTS[name][1]})",
        )
        for name in names
    )
    return (of, *slopes)


#: Multipliers of closed linkages, if asked for.
LAM = Output("multipliers", ("rows",), "N, N m", lambda x: bool(x.get("multipliers")))

#: Of hybrid dynamics: what is given are accelerations of some speeds, and forces of the others.
GIVEN = ("q", "v", "a_controlled", "tau_free")
HYBRID = (*_by(A, *GIVEN), *_by(TAU, *GIVEN))

#: All quantities by name.
QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(
        ("q", "v", "a"),
        (TAU,),
        dynamics.inverse_dynamics,
        base=True,
        options=LOADS,
        parametric=True,
        closed=Quantity(
            ("q", "v", "a"),
            (
                TAU,
                Output("gap", ("rows",), "m/s^2, rad/s^2", lambda x: "possible" not in x),
            ),
            closed_dynamics.inverse_dynamics,
            base=True,
            options=(*LOADS, "rows", "dependent", "order", "scales", "possible", *CHECKED),
            parametric=True,
        ),
    ),
    "forward_dynamics": Quantity(
        ("q", "v", "tau"),
        (A,),
        dynamics.forward_dynamics(partition.hybrid_dynamics),
        base=True,
        options=LOADS,
        parametric=True,
        solves=True,
        rivals=(
            Rival(
                dynamics.forward_dynamics(articulated_body.hybrid_dynamics),
                certain=articulated_body.deep,
                chained=True,
            ),
        ),
        closed=Quantity(
            ("q", "v", "tau"),
            (A, LAM),
            closed_dynamics.forward_dynamics,
            base=True,
            options=(*LOADS, "rows", "groups", "multipliers", "stabilization", *CHECKED),
            parametric=True,
            solves=True,
        ),
    ),
    "hybrid_dynamics": Quantity(
        ("q", "v", "a_controlled", "tau_free"),
        (A, TAU),
        dynamics.hybrid_dynamics(partition.hybrid_dynamics),
        base=True,
        options=(*LOADS, "controlled"),
        parametric=True,
        solves=True,
        rivals=(
            Rival(
                dynamics.hybrid_dynamics(articulated_body.hybrid_dynamics),
                certain=articulated_body.deep,
                chained=True,
            ),
        ),
        closed=Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            (A, TAU),
            closed_dynamics.hybrid_dynamics,
            base=True,
            options=(*LOADS, "controlled", "rows", "groups", "stabilization"),
            parametric=True,
            solves=True,
        ),
    ),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "v", "a"),
        _by(TAU, "q", "v", "a"),
        derivatives.inverse_dynamics,
        base=True,
        options=LOADS,
        parametric=True,
        closed=Quantity(
            ("q", "v", "a"),
            _by(TAU, "q", "v", "a"),
            derivatives.closed_inverse_dynamics,
            base=True,
            options=(*LOADS, "rows", "dependent", "order", "scales"),
            parametric=True,
        ),
    ),
    "forward_dynamics_derivatives": Quantity(
        ("q", "v", "tau"),
        _by(A, "q", "v", "tau"),
        derivatives.forward_dynamics,
        base=True,
        options=LOADS,
        parametric=True,
        solves=True,
        closed=Quantity(
            ("q", "v", "tau"),
            (*_by(A, "q", "v", "tau"), LAM),
            derivatives.forward_dynamics,
            base=True,
            options=(*LOADS, "rows", "groups", "multipliers", "stabilization", *CHECKED),
            parametric=True,
            solves=True,
        ),
    ),
    "hybrid_dynamics_derivatives": Quantity(
        ("q", "v", "a_controlled", "tau_free"),
        HYBRID,
        derivatives.hybrid_dynamics,
        base=True,
        options=(*LOADS, "controlled"),
        parametric=True,
        solves=True,
        closed=Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            HYBRID,
            derivatives.hybrid_dynamics,
            base=True,
            options=(*LOADS, "controlled", "rows", "groups", "stabilization"),
            parametric=True,
            solves=True,
        ),
    ),
    "bias_forces": Quantity(
        ("q", "v"),
        (TAU,),
        dynamics.inverse_dynamics,
        base=True,
        options=LOADS,
        parametric=True,
    ),
    "gravity_forces": Quantity(
        ("q",),
        (TAU,),
        lambda t: {
            "tau": newton_euler.inverse_dynamics(t.model, t.state, t.zeros, t.base, {}),
        },
        base=True,
        parametric=True,
    ),
    "passive_forces": Quantity(("q", "v"), (TAU,), dynamics.passive_forces, base=True),
    "ground_contacts": Quantity(
        ("q", "v"),
        (
            Output("force", ("contacts", 3), "N"),
            Output("depth", ("contacts",), "m"),
            Output("slip", ("contacts", 3), "m/s"),
        ),
        contacts.ground_contacts,
        base=True,
    ),
    "mass_matrix": Quantity(
        ("q",),
        (Output("M", ("nv", "nv"), "kg m^2, kg m, kg"),),
        lambda t: {"M": composite_body.mass_matrix(t.model, t.state)},
        parametric=True,
    ),
    "mass_matrix_inverse": Quantity(
        ("q",),
        (Output("M_inverse", ("nv", "nv"), "1/(kg m^2), 1/(kg m), 1/kg"),),
        lambda t: {
            "M_inverse": factorization.inverse(
                factorization.factorize(composite_body.mass_matrix(t.model, t.state), t.model.light)
            ),
        },
        parametric=True,
        solves=True,
    ),
    "coriolis_matrix": Quantity(
        ("q", "v"),
        (Output("C", ("nv", "nv"), "kg m^2/s, kg m/s, kg/s"),),
        lambda t: {
            "C": coriolis.coriolis_matrix(
                t.model, t.state, BaseState.at_rest(Vec3.of(t.setup.gravity))
            ),
        },
        parametric=True,
    ),
    "regressor": Quantity(
        ("q", "v", "a"),
        (Output("Y", ("nv", "parameters"), "N m/kg, N m/(kg m), 1/s^2"),),
        lambda t: {"Y": regressor.regressor(t.model, t.state, t.a, t.base)},
        base=True,
    ),
    "dynamic_regressor": Quantity(
        ("q", "v", "a"),
        (Output("Y", ("nv", "dynamic parameters"), "N m/kg, N m/(kg m), 1/s^2, 1/s, 1"),),
        regressors.dynamic_regressor,
        base=True,
    ),
    "joint_wrenches": Quantity(
        ("q", "v", "a"),
        (Output("wrenches", ("joints, base", 6), "N, N m"),),
        wrenches.joint_wrenches,
        base=True,
        options=(*LOADS, "joints"),
        parametric=True,
        multipliers=True,
    ),
    "joint_wrench_parts": Quantity(
        ("q", "v", "a"),
        (
            Output("motor", ("joints", 6), "N, N m"),
            Output("passive", ("joints", 6), "N, N m"),
        ),
        wrenches.joint_wrench_parts,
        base=True,
        options=(*LOADS, "joints"),
        multipliers=True,
    ),
    "integrate": Quantity(
        ("q", "dv"),
        (Output("q", ("nq",), "rad, m"),),
        lambda t: {"q": coordinate_steps.integrate(t.model, t.numbers["q"], t.numbers["dv"])},
        timeless=True,
    ),
    "difference": Quantity(
        ("q0", "q1"),
        (Output("dv", ("nv",), "rad, m"),),
        lambda t: {
            "dv": coordinate_steps.difference(t.model, *(t.numbers[k] for k in ("q0", "q1")))
        },
        timeless=True,
    ),
    "tangent_rate": Quantity(
        ("u", "v"),
        (Output("rate", ("nv",), "rad/s, m/s"),),
        lambda t: {"rate": coordinate_steps.tangent_rate(t.model, t.numbers["u"], t.v)},
        timeless=True,
    ),
    "loop_residual": Quantity(
        ("q",),
        (Output("residual", ("rows",), "m, rad"),),
        lambda t: {"residual": [row.residual for row in t.gaps]},
    ),
    "loop_jacobian": Quantity(("q",), (Output("K", ("rows", "nv"), "m, 1"),), loops.jacobian),
    "loop_velocity_offset": Quantity(
        ("q",),
        (Output("offset", ("rows",), "m/s, rad/s"),),
        lambda t: {"offset": [row.offset for row in t.gaps]},
    ),
    "loop_bias": Quantity(
        ("q", "v"),
        (Output("bias", ("rows",), "m/s^2, rad/s^2"),),
        lambda t: {"bias": [row.bias for row in t.gaps]},
    ),
    "loop_corrections": Quantity(
        ("q", "v"),
        (
            Output("dq", ("nv",), "rad, m"),
            Output("dv", ("nv",), "rad/s, m/s"),
            Output("gap", (), "m, rad"),
        ),
        closed_dynamics.loop_corrections,
        options=("controlled",),
        solves=True,
        closed=Quantity(
            ("q", "v"),
            (
                Output("dq", ("nv",), "rad, m"),
                Output("dv", ("nv",), "rad/s, m/s"),
                Output("gap", (), "m, rad"),
            ),
            closed_dynamics.loop_corrections,
            options=("controlled", "rows", "groups"),
            solves=True,
        ),
    ),
    "loop_weakness": Quantity(
        ("q",),
        (Output("weakness", (), "1"),),
        closed_dynamics.loop_weakness,
        options=("rows", "groups", "probe"),
    ),
    "loop_openness": Quantity(("q", "v"), (Output("openness", (), "1"),), loops.openness),
    "cut_joint_poses": Quantity(
        ("q",), (Output("X", ("cut joints", 4, 4), "1, m"),), loops.cut_joint_poses
    ),
    "cut_joint_speeds": Quantity(
        ("q", "v"),
        (Output("speeds", ("cut freedoms",), "rad/s, m/s"),),
        loops.cut_joint_speeds,
    ),
    "dependent_places": Quantity(
        ("q",), (Output("places", ("following", 2), "1, m"),), loops.places_of_following
    ),
    "dependent_speeds": Quantity(
        ("q", "v"), (Output("speeds", ("following",), "rad/s, m/s"),), loops.speeds_of_following
    ),
    "dependent_speed_map": Quantity(
        ("q",), (Output("B", ("following", "nv"), "1, m, 1/m"),), loops.speed_map_of_following
    ),
    "dependent_accelerations": Quantity(
        ("q", "v", "a"),
        (Output("accelerations", ("following",), "rad/s^2, m/s^2"),),
        loops.accelerations_of_following,
    ),
    "frame_pose": Quantity(
        ("q",),
        (Output("X", (4, 4), "1, m"),),
        frames.frame_pose,
        base=True,
        options=("frame", "relative_to"),
    ),
    "frame_twist": Quantity(
        ("q", "v"),
        (Output("V", (6,), "m/s, rad/s"),),
        frames.frame_twist,
        base=True,
        options=FRAME,
    ),
    "frame_acceleration": Quantity(
        ("q", "v", "a"),
        (Output("A", (6,), "m/s^2, rad/s^2"),),
        frames.frame_acceleration,
        base=True,
        options=(*FRAME, "classical"),
    ),
    "frame_jacobian": Quantity(
        ("q",),
        (Output("J", (6, "nv"), "m, 1"),),
        frames.frame_jacobian,
        base=True,
        options=FRAME,
    ),
    "frame_jacobian_dot": Quantity(
        ("q", "v"),
        (Output("J_dot", (6, "nv"), "m/s, 1/s"),),
        frames.frame_jacobian_dot,
        base=True,
        options=FRAME,
    ),
    "frame_poses": Quantity(
        ("q",),
        (Output("X", ("frames", 4, 4), "1, m"),),
        frames.frame_poses,
        base=True,
        options=("frames", "relative_to"),
    ),
    "frame_twists": Quantity(
        ("q", "v"),
        (Output("V", ("frames", 6), "m/s, rad/s"),),
        frames.frame_twists,
        base=True,
        options=FRAMES,
    ),
    "frame_jacobians": Quantity(
        ("q",),
        (Output("J", ("frames", 6, "nv"), "m, 1"),),
        frames.frame_jacobians,
        base=True,
        options=FRAMES,
    ),
    "inverse_kinematics_step": Quantity(
        ("q", "goals", "damping"),
        (Output("q", ("nq",), "rad, m"), Output("measure", (2,), "m, rad")),
        inverse_kinematics.inverse_kinematics_step,
        base=True,
        options=("frames", "points", "posture", "bounds", "flat"),
    ),
    "center_of_mass": Quantity(
        ("q",),
        (Output("p", (3,), "m"),),
        lambda t: {
            "p": momentum.center_of_mass(t.model, t.state, t.base, t.setup.base_inertia),
        },
        base=True,
    ),
    "kinetic_energy": Quantity(
        ("q", "v"), (Output("T", (), "J"),), energy.kinetic_energy, base=True, parametric=True
    ),
    "potential_energy": Quantity(
        ("q",), (Output("U", (), "J"),), energy.potential_energy, base=True, parametric=True
    ),
    "elastic_energy": Quantity(("q",), (Output("U", (), "J"),), energy.elastic_energy, base=True),
    "momentum": Quantity(
        ("q", "v"),
        (Output("momentum", (6,), "kg m/s, kg m^2/s"),),
        energy.total_momentum,
        base=True,
    ),
    "centroidal_matrix": Quantity(
        ("q",),
        (Output("A", (6, "nv"), "kg m, kg m^2"),),
        lambda t: {
            "A": momentum.centroidal_matrix(t.model, t.state, t.base, t.setup.base_inertia),
        },
        base=True,
    ),
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
    program = _cheapest(name, setup, options or {})
    whole = f"{name}_derivatives"
    if whole not in QUANTITIES:
        return program
    return replace(program, derived=_Derived(whole, setup, options or {}, program).by)


@dataclass(eq=False)
class _Derived:
    """Derivatives of a quantity, from the program that has its value and all of them."""

    name: str
    setup: Setup
    options: Mapping[str, Any]
    program: Program

    @cached_property
    def _whole(self) -> Program:
        known = _row(self.name, self.setup, self.options)[0].options
        options = {x: y for x, y in self.options.items() if x in known or x == "parameters"}
        return trace(self.name, self.setup, options)

    def by(self, name: str) -> Program | None:
        """The program of the derivatives by an input; none by what it does not know."""
        wanted = [f"d {port.name} / d {name}" for port in self.program.outputs]
        if name == "parameters" or name not in _row(self.name, self.setup, self.options)[0].inputs:
            return None
        found, first = {}, 0
        for port in self._whole.outputs:
            found[port.name] = port, self._whole.results[first : first + port.size]
            first += port.size
        if not all(x in found for x in wanted):
            return None
        return replace(
            self._whole,
            name=f"{self.program.name}_d_{name}",
            outputs=tuple(found[x][0] for x in wanted),
            results=tuple(edge for x in wanted for edge in found[x][1]),
        )


def _cheapest(name: str, setup: Setup, options: Mapping[str, Any]) -> Program:
    """Program of a quantity by the algorithm with the fewest operations."""
    quantity, options = _row(name, setup, options)
    controlled = frozenset(options.get("controlled", ()))
    for rival in quantity.rivals:
        if rival.certain(setup.model, controlled):
            return traced(name, quantity, rival.trace, setup, options)
    found = programs(name, setup, options)
    return min(found, key=_cost) if len(found) > 1 else found[0]


def programs(name: str, setup: Setup, options: Mapping[str, Any] | None = None) -> list[Program]:
    """Programs of a quantity by each of its algorithms; parameters as in `trace`."""
    quantity, options = _row(name, setup, options or {})
    algorithms = [quantity.trace, *(rival.trace for rival in quantity.rivals)]
    return [traced(name, quantity, x, setup, options) for x in algorithms]


def _row(name: str, setup: Setup, options: Mapping[str, Any]) -> tuple[Quantity, Mapping[str, Any]]:
    """What the catalogue says of a quantity, for this mechanism."""
    quantity = QUANTITIES[name]
    if quantity.closed and "rows" in options:
        quantity = quantity.closed
    # only the mass matrix shows what is left of its elements in the end
    simple = setup.model.chained and not setup.model.light
    rivals = tuple(x for x in quantity.rivals if simple or not x.chained)
    return replace(quantity, rivals=rivals), options


def _cost(program: Program) -> float:
    return sum(COST[kind] * count for kind, count in program.operations().items())
