"""Every quantity a robot can compute: its inputs and outputs, and which equations trace it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robodyn.equations import (
    articulated_body,
    composite_body,
    coriolis,
    factorization,
    kinematics,
    momentum,
    newton_euler,
    partition,
    passive,
)
from robodyn.equations import frame_motion as fm
from robodyn.equations.frames import ROUNDING, placement
from robodyn.equations.mechanism import BASE, MechanismModel
from robodyn.equations.state import BaseState, State, evaluate_joints
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, edge_of, inputs
from robodyn.symbolic.spatial import Placement, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import Mat3, Vec3

__all__ = ["QUANTITIES", "Setup", "trace"]

#: Inputs by name: their size (nc controlled speeds, nf others), unit.
INPUTS: dict[str, tuple[str, str]] = {
    "q": ("nq", "rad, m"),
    "v": ("nv", "rad/s, m/s"),
    "a": ("nv", "rad/s^2, m/s^2"),
    "tau": ("nv", "N m, N"),
    "a_controlled": ("nc", "rad/s^2, m/s^2"),
    "tau_free": ("nf", "N m, N"),
}


@dataclass(frozen=True, eq=False)
class Setup:
    """What the equations know of a robot besides its bodies.

    Attributes
    ----------
    model : MechanismModel
    gravity : (3,) [m/s^2]
        In the world.
    passive : bool
        Joint damping and friction belong to the mechanism.
    friction_speed : float [rad/s or m/s]
        Where dry friction reaches 70 %.
    moving : bool
        The base is moved along a prescribed path.
    """

    model: MechanismModel
    gravity: tuple[float, float, float]
    passive: bool
    friction_speed: float
    moving: bool

    @property
    def base_inertia(self) -> RigidInertia | None:
        """Of the base, where it moves."""
        return self.model.base_inertia if self.moving else None


@dataclass(eq=False)
class Tracer:
    """Inputs and options of one program while its equations are traced."""

    setup: Setup
    options: Mapping[str, Any]
    graph: Graph = field(default_factory=Graph)
    ports: list[Port] = field(default_factory=list)
    numbers: dict[str, list[Number]] = field(default_factory=dict)

    def add(self, name: str, shape: tuple[int, ...], unit: str) -> None:
        """Declare an input."""
        port = Port(name, shape, unit)
        first = sum(p.size for p in self.ports)
        self.ports.append(port)
        self.numbers[name] = inputs(self.graph, first, port.size)

    @property
    def model(self) -> MechanismModel:
        """Bodies."""
        return self.setup.model

    @property
    def zeros(self) -> list[Number]:
        """No speed, or no acceleration."""
        return [0.0] * self.model.nv

    @property
    def v(self) -> list[Number]:
        """Speeds, zero where the quantity does not depend on them."""
        return self.numbers.get("v", self.zeros)

    @property
    def a(self) -> list[Number]:
        """Accelerations, zero where the quantity does not depend on them."""
        return self.numbers.get("a", self.zeros)

    @property
    def state(self) -> State:
        """All joints."""
        return evaluate_joints(self.model, self.numbers["q"], self.v)

    @property
    def base(self) -> BaseState:
        """The base, at rest unless the program has it as an input."""
        g_W = Vec3.of(self.setup.gravity)
        if "base_pose" not in self.numbers:
            return BaseState.at_rest(g_W)
        X = self.numbers["base_pose"]
        R = Rotation(Mat3(*X[0:3], *X[4:7], *X[8:11]))
        V, A = self.numbers["base_twist"], self.numbers["base_acceleration"]
        return BaseState(
            Placement(R, Vec3(X[3], X[7], X[11])),
            Twist(Vec3(*V[:3]), Vec3(*V[3:])),
            Twist(Vec3(*A[:3]), Vec3(*A[3:])),
            g_W,
        )

    @property
    def wrenches(self) -> dict[int, Wrench]:
        """External wrenches by body, moved to the origins of the bodies."""
        total: dict[int, Wrench] = {}
        for link in self.options.get("wrenches", ()):
            body, X = self.link(link)
            w = self.numbers[f"wrench:{link}"]
            F = X.wrench_out(Wrench(Vec3(*w[:3]), Vec3(*w[3:])))
            if body != BASE:
                total[body] = total[body] + F if body in total else F
        return total

    def link(self, name: str) -> tuple[int, Placement]:
        """Body that carries a link, and the link frame on it."""
        body, X = self.model.frames[name]
        return body, placement(X, ROUNDING)

    def passive(self) -> list[Number]:
        """Forces of the joints themselves, if they belong to the mechanism."""
        if not self.setup.passive:
            return self.zeros
        return passive.passive_forces(self.model, self.v, self.setup.friction_speed)

    def frame(self) -> fm.FrameMotion:
        """Motion of the frame asked for, in the axes asked for."""
        body, X = self.link(self.options["frame"])
        reference = self.options.get("relative_to", "world")
        if reference == "world":
            return fm.absolute(self.model, self.state, self.a, self.base, body, X)
        return fm.relative(self.model, self.state, self.a, (body, X), self.link(reference))

    def world_axes(self) -> Rotation:
        """``R_WF`` if results are wanted in world axes, else no rotation."""
        if self.options.get("axes", "body") == "body":
            return Rotation()
        body, X = self.link(self.options["frame"])
        motion = fm.absolute(self.model, self.state, self.zeros, self.base, body, X)
        return Rotation(motion.X.R.matrix)


Results = Sequence[tuple[Port, Sequence[Number]]]


@dataclass(frozen=True)
class Quantity:
    """One row of the catalogue: which inputs, whether the base enters, options, how it is traced.

    ``trees_only``: not for mechanisms in which joints share speeds.
    """

    inputs: tuple[str, ...]
    trace: Callable[[Tracer], Results]
    base: bool = False
    options: tuple[str, ...] = ()
    trees_only: bool = False


def _nv(name: str, unit: str, values: Sequence[Number]) -> Results:
    return [(Port(name, (len(values),), unit), values)]


def _matrix(name: str, unit: str, rows: Sequence[Sequence[Number]]) -> Results:
    port = Port(name, (len(rows), len(rows[0]) if rows else 0), unit)
    return [(port, [x for row in rows for x in row])]


def _inverse_dynamics(t: Tracer) -> Results:
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.a, t.base, t.wrenches)
    return _nv("tau", "N m, N", [x - p for x, p in zip(tau, t.passive(), strict=True)])


def _gravity_forces(t: Tracer) -> Results:
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.zeros, t.base, t.wrenches)
    return _nv("tau", "N m, N", tau)


def _applied(t: Tracer) -> list[Number]:
    tau = t.numbers["tau"]
    return [x + p for x, p in zip(tau, t.passive(), strict=True)]


HybridSweep = Callable[..., tuple[list[Number], list[Number]]]


def _forward(sweep: HybridSweep) -> Callable[[Tracer], Results]:
    def traced(t: Tracer) -> Results:
        a, _ = sweep(t.model, t.state, t.zeros, _applied(t), frozenset(), t.base, t.wrenches)
        return _nv("a", "rad/s^2, m/s^2", a)

    return traced


def _hybrid(sweep: HybridSweep) -> Callable[[Tracer], Results]:
    def traced(t: Tracer) -> Results:
        controlled = t.options["controlled"]
        a, tau, own = t.zeros, t.zeros, t.passive()
        for k, x in zip(controlled, t.numbers["a_controlled"], strict=True):
            a[k] = x
        free = [k for k in range(t.model.nv) if k not in controlled]
        for k, x in zip(free, t.numbers["tau_free"], strict=True):
            tau[k] = x + own[k]
        mask = frozenset(controlled)
        a, tau = sweep(t.model, t.state, a, tau, mask, t.base, t.wrenches)
        tau = [x - p for x, p in zip(tau, own, strict=True)]
        return [*_nv("a", "rad/s^2, m/s^2", a), *_nv("tau", "N m, N", tau)]

    return traced


def _mass_matrix(t: Tracer) -> Results:
    return _matrix("M", "kg m^2, kg m, kg", composite_body.mass_matrix(t.model, t.state))


def _mass_matrix_inverse(t: Tracer) -> Results:
    factors = factorization.factorize(composite_body.mass_matrix(t.model, t.state))
    return _matrix("M_inverse", "1/(kg m^2), 1/(kg m), 1/kg", factorization.inverse(factors))


def _coriolis_matrix(t: Tracer) -> Results:
    base = BaseState.at_rest(Vec3.of(t.setup.gravity))
    return _matrix("C", "kg m^2/s, kg m/s, kg/s", coriolis.coriolis_matrix(t.model, t.state, base))


def _passive_forces(t: Tracer) -> Results:
    return _nv("tau", "N m, N", t.passive())


def _frame_pose(t: Tracer) -> Results:
    X = t.frame().X
    rows = [[*row, p] for row, p in zip(X.R.matrix.rows(), X.p, strict=True)]
    return _matrix("X", "1, m", [*rows, [0.0, 0.0, 0.0, 1.0]])


def _frame_twist(t: Tracer) -> Results:
    return _nv("V", "m/s, rad/s", list(fm.in_axes(t.world_axes(), t.frame().V)))


def _frame_acceleration(t: Tracer) -> Results:
    F = t.frame()
    A = fm.classical(F.V, F.A) if t.options.get("classical") else F.A
    return _nv("A", "m/s^2, rad/s^2", list(fm.in_axes(t.world_axes(), A)))


def _columns(t: Tracer, columns: Mapping[int, Twist], name: str, unit: str) -> Results:
    parts = [list(columns.get(k, Twist())) for k in range(t.model.nv)]
    rows = [[part[r] for part in parts] for r in range(6)]
    return [(Port(name, (6, t.model.nv), unit), [x for row in rows for x in row])]


def _frame_jacobian(t: Tracer) -> Results:
    R = t.world_axes()
    J = {k: fm.in_axes(R, s) for k, s in t.frame().columns.items()}
    return _columns(t, J, "J", "m, 1")


def _frame_jacobian_dot(t: Tracer) -> Results:
    F, R = t.frame(), t.world_axes()
    rates = F.rates
    if t.options.get("axes", "body") == "world":
        # the axes do not turn with the frame: its own turning is added back
        body, X = t.link(t.options["frame"])
        w = fm.absolute(t.model, t.state, t.zeros, t.base, body, X).V.w
        rates = {
            k: fm.in_axes(R, ds + Twist(w.cross(F.columns[k].v), w.cross(F.columns[k].w)))
            for k, ds in rates.items()
        }
    return _columns(t, rates, "J_dot", "m/s, 1/s")


def _center_of_mass(t: Tracer) -> Results:
    c = momentum.center_of_mass(t.model, t.state, t.base, t.setup.base_inertia)
    return _nv("p", "m", list(c))


def _kinetic_energy(t: Tracer) -> Results:
    V = kinematics.twists(t.model, t.state, t.base)
    return [(Port("T", (), "J"), [momentum.kinetic_energy(t.model, t.v, V, t.setup.base_inertia)])]


def _potential_energy(t: Tracer) -> Results:
    U = momentum.potential_energy(t.model, t.state, t.base, t.setup.base_inertia)
    return [(Port("U", (), "J"), [U])]


def _momentum(t: Tracer) -> Results:
    state, base = t.state, t.base
    V = kinematics.twists(t.model, state, base)
    P = momentum.momentum(t.model, state, V, base, t.setup.base_inertia)
    return _nv("momentum", "kg m/s, kg m^2/s", list(P))


def _centroidal_matrix(t: Tracer) -> Results:
    rows = momentum.centroidal_matrix(t.model, t.state, t.base, t.setup.base_inertia)
    return [(Port("A", (6, t.model.nv), "kg m, kg m^2"), [x for row in rows for x in row])]


FRAME = ("frame", "relative_to", "axes")

#: All quantities by name. Where two algorithms stand, the one with fewer operations is taken.
QUANTITIES: dict[str, tuple[Quantity, ...]] = {
    "inverse_dynamics": (Quantity(("q", "v", "a"), _inverse_dynamics, True, ("wrenches",)),),
    "forward_dynamics": (
        Quantity(("q", "v", "tau"), _forward(partition.hybrid_dynamics), True, ("wrenches",)),
        Quantity(
            ("q", "v", "tau"),
            _forward(articulated_body.hybrid_dynamics),
            True,
            ("wrenches",),
            trees_only=True,
        ),
    ),
    "hybrid_dynamics": (
        Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            _hybrid(partition.hybrid_dynamics),
            True,
            ("wrenches", "controlled"),
        ),
        Quantity(
            ("q", "v", "a_controlled", "tau_free"),
            _hybrid(articulated_body.hybrid_dynamics),
            True,
            ("wrenches", "controlled"),
            trees_only=True,
        ),
    ),
    "mass_matrix": (Quantity(("q",), _mass_matrix),),
    "mass_matrix_inverse": (Quantity(("q",), _mass_matrix_inverse),),
    "bias_forces": (Quantity(("q", "v"), _inverse_dynamics, True, ("wrenches",)),),
    "gravity_forces": (Quantity(("q",), _gravity_forces, True),),
    "coriolis_matrix": (Quantity(("q", "v"), _coriolis_matrix),),
    "passive_forces": (Quantity(("q", "v"), _passive_forces),),
    "frame_pose": (Quantity(("q",), _frame_pose, True, ("frame", "relative_to")),),
    "frame_twist": (Quantity(("q", "v"), _frame_twist, True, FRAME),),
    "frame_acceleration": (
        Quantity(("q", "v", "a"), _frame_acceleration, True, (*FRAME, "classical")),
    ),
    "frame_jacobian": (Quantity(("q",), _frame_jacobian, True, FRAME),),
    "frame_jacobian_dot": (Quantity(("q", "v"), _frame_jacobian_dot, True, FRAME),),
    "center_of_mass": (Quantity(("q",), _center_of_mass, True),),
    "kinetic_energy": (Quantity(("q", "v"), _kinetic_energy, True),),
    "potential_energy": (Quantity(("q",), _potential_energy, True),),
    "momentum": (Quantity(("q", "v"), _momentum, True),),
    "centroidal_matrix": (Quantity(("q",), _centroidal_matrix, True),),
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
    for quantity in QUANTITIES[name]:
        if setup.model.coupled and quantity.trees_only:
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
    for link in options.get("wrenches", ()):
        t.add(f"wrench:{link}", (6,), "N, N m")
    results = quantity.trace(t)
    edges = tuple(edge_of(t.graph, x) for _, values in results for x in values)
    return Program(name, tuple(t.ports), tuple(port for port, _ in results), t.graph, edges)


def _cost(program: Program) -> float:
    return sum(COST[kind] * count for kind, count in program.operations().items())
