"""Each quantity as ports and numbers: which equations it takes, and how results are laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robodyn.equations.closed_form.linkage import JointMotion
from robodyn.equations.loops import constrained, cut_friction, partition
from robodyn.equations.loops.closure_rows import ROWS, Closure, closure_wrenches
from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import BaseState
from robodyn.equations.tracer import Tracer
from robodyn.equations.tree import (
    composite_body,
    coriolis,
    factorization,
    force_elements,
    kinematics,
    momentum,
    newton_euler,
    passive,
    reactions,
    regressor,
)
from robodyn.equations.tree import frame_motion as fm
from robodyn.symbolic.graph import Port
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist, Wrench
from robodyn.symbolic.vector import Vec3

Results = Sequence[tuple[Port, Sequence[Number]]]


def nv_array(name: str, unit: str, values: Sequence[Number]) -> Results:
    return [(Port(name, (len(values),), unit), values)]


def matrix(name: str, unit: str, rows: Sequence[Sequence[Number]]) -> Results:
    port = Port(name, (len(rows), len(rows[0]) if rows else 0), unit)
    return [(port, [x for row in rows for x in row])]


def inverse_dynamics(t: Tracer) -> Results:
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.a, t.base, t.wrenches)
    return nv_array("tau", "N m, N", [x - p for x, p in zip(tau, t.passive(), strict=True)])


def integrate(t: Tracer) -> Results:
    moved = coordinate_steps.integrate(t.model, t.numbers["q"], t.numbers["dv"])
    return nv_array("q", "rad, m", moved)


def tangent_rate(t: Tracer) -> Results:
    rate = coordinate_steps.tangent_rate(t.model, t.numbers["u"], t.v)
    return nv_array("rate", "rad/s, m/s", rate)


def gravity_forces(t: Tracer) -> Results:
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.zeros, t.base, {})
    return nv_array("tau", "N m, N", tau)


def applied(t: Tracer) -> list[Number]:
    tau = t.numbers["tau"]
    return [x + p for x, p in zip(tau, t.passive(), strict=True)]


#: An algorithm for hybrid dynamics of trees; see `partition.hybrid_dynamics`.
TreeSweep = Callable[..., tuple[list[Number], list[Number]]]
#: One with all but accelerations, forces and the controlled speeds given.
Sweep = Callable[[list[Number], list[Number], frozenset[int]], tuple[list[Number], list[Number]]]


def tree_sweep(t: Tracer, algorithm: TreeSweep) -> Sweep:
    return lambda a, tau, mask: algorithm(t.model, t.state, a, tau, mask, t.base, t.wrenches)


def forward(algorithm: TreeSweep) -> Callable[[Tracer], Results]:
    def traced(t: Tracer) -> Results:
        a, _ = tree_sweep(t, algorithm)(t.zeros, applied(t), frozenset())
        return nv_array("a", "rad/s^2, m/s^2", a)

    return traced


def hybrid(algorithm: TreeSweep) -> Callable[[Tracer], Results]:
    return lambda t: with_controlled(t, tree_sweep(t, algorithm))


def with_controlled(t: Tracer, sweep: Sweep) -> Results:
    """Accelerations and forces of all speeds, some of which are controlled."""
    controlled = t.options["controlled"]
    a, tau, given, own = t.zeros, t.zeros, t.zeros, t.passive()
    for k, x in zip(controlled, t.numbers["a_controlled"], strict=True):
        a[k] = x
    free = [k for k in range(t.model.nv) if k not in controlled]
    for k, x in zip(free, t.numbers["tau_free"], strict=True):
        given[k], tau[k] = x, x + own[k]
    mask = frozenset(controlled)
    a, tau = sweep(a, tau, mask)
    tau = [tau[k] - own[k] if k in mask else given[k] for k in range(t.model.nv)]
    return [*nv_array("a", "rad/s^2, m/s^2", a), *nv_array("tau", "N m, N", tau)]


def closed_sweep(
    t: Tracer, a: list[Number], tau: list[Number], mask: frozenset[int]
) -> tuple[list[Number], list[Number], list[Number]]:
    return partition.closed_hybrid_dynamics(
        t.model, t.state, a, tau, mask, t.base, t.wrenches, t.rows
    )


def closed_forward(t: Tracer) -> Results:
    """Forward dynamics of a closed linkage, by some independent rows."""
    a, _, lam = closed_sweep(t, t.zeros, applied(t), frozenset())
    if t.options.get("multipliers"):
        return [*nv_array("a", "rad/s^2, m/s^2", a), *nv_array("multipliers", "N, N m", lam)]
    return nv_array("a", "rad/s^2, m/s^2", a)


def closed_hybrid(t: Tracer) -> Results:
    """Hybrid dynamics of a closed linkage, by rows that are independent in the free speeds."""
    return with_controlled(t, lambda *given: closed_sweep(t, *given)[:2])


def closed_inverse(t: Tracer) -> Results:
    """Forces at the motors of a closed linkage, and how far ``a`` is from closing the loops."""
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.a, t.base, t.wrenches)
    needed = [x - p for x, p in zip(tau, t.passive(), strict=True)]
    rows = t.rows
    tau, _ = constrained.motor_forces(needed, rows, t.options["dependent"], t.options["order"])
    gaps = [sum((slope * t.a[k] for k, slope in row.jacobian.items()), row.bias) for row in rows]
    if "possible" in t.options:
        return nv_array(
            "tau", "N m, N", constrained.if_possible(tau, gaps, t.a, t.options["possible"])
        )
    return [*nv_array("tau", "N m, N", tau), *nv_array("gap", "m/s^2, rad/s^2", gaps)]


def loop_residual(t: Tracer) -> Results:
    return nv_array("residual", "m, rad", [row.residual for row in t.rows])


def loop_jacobian(t: Tracer) -> Results:
    nv = t.model.nv
    values = [row.jacobian.get(k, 0.0) for row in t.rows for k in range(nv)]
    return [(Port("K", (len(t.rows), nv), "m, 1"), values)]


def loop_velocity_offset(t: Tracer) -> Results:
    return nv_array("offset", "m/s, rad/s", [row.offset for row in t.rows])


def loop_bias(t: Tracer) -> Results:
    return nv_array("bias", "m/s^2, rad/s^2", [row.bias for row in t.rows])


def following(t: Tracer) -> list[JointMotion]:
    """Joints that follow by a closed loop, in order."""
    return [motion for _, motion in sorted(t.state.dependent.items())]


def dependent_places(t: Tracer) -> Results:
    """Cosine and sine, or displacement and zero, of each freedom that follows by a closed loop."""
    rows = [(place.x, place.y) for motion in following(t) for place in motion.places]
    return [(Port("places", (len(rows), 2), "1, m"), [x for row in rows for x in row])]


def dependent_speeds(t: Tracer) -> Results:
    return nv_array("speeds", "rad/s, m/s", [x for motion in following(t) for x in motion.v])


def dependent_speed_map(t: Tracer) -> Results:
    rows = [
        [motion.columns[k][n] if k in motion.columns else 0.0 for k in range(t.model.nv)]
        for motion in following(t)
        for n in range(len(motion.v))
    ]
    return [(Port("B", (len(rows), t.model.nv), "1, m, 1/m"), [x for row in rows for x in row])]


def dependent_accelerations(t: Tracer) -> Results:
    values = [
        sum((column[n] * t.a[k] for k, column in motion.columns.items()), c)
        for motion in following(t)
        for n, c in enumerate(motion.c)
    ]
    return nv_array("accelerations", "rad/s^2, m/s^2", values)


def mass_matrix(t: Tracer) -> Results:
    return matrix("M", "kg m^2, kg m, kg", composite_body.mass_matrix(t.model, t.state))


def mass_matrix_inverse(t: Tracer) -> Results:
    factors = factorization.factorize(composite_body.mass_matrix(t.model, t.state))
    return matrix("M_inverse", "1/(kg m^2), 1/(kg m), 1/kg", factorization.inverse(factors))


def coriolis_matrix(t: Tracer) -> Results:
    base = BaseState.at_rest(Vec3.of(t.setup.gravity))
    return matrix("C", "kg m^2/s, kg m/s, kg/s", coriolis.coriolis_matrix(t.model, t.state, base))


def passive_forces(t: Tracer) -> Results:
    state = t.state
    loads = t.passive_wrenches
    between_links = force_elements.generalised(t.model, state, loads)
    tau = [x + y for x, y in zip(t.passive(), between_links, strict=True)]
    return nv_array("tau", "N m, N", tau)


def frame_pose(t: Tracer) -> Results:
    X = t.frame().X
    rows = [[*row, p] for row, p in zip(X.R.matrix.rows(), X.p, strict=True)]
    return matrix("X", "1, m", [*rows, [0.0, 0.0, 0.0, 1.0]])


def frame_twist(t: Tracer) -> Results:
    return nv_array("V", "m/s, rad/s", list(fm.in_axes(t.world_axes(), t.frame().V)))


def frame_acceleration(t: Tracer) -> Results:
    F = t.frame()
    A = fm.classical(F.V, F.A) if t.options.get("classical") else F.A
    return nv_array("A", "m/s^2, rad/s^2", list(fm.in_axes(t.world_axes(), A)))


def columns(t: Tracer, columns: Mapping[int, Twist], name: str, unit: str) -> Results:
    parts = [list(columns.get(k, Twist())) for k in range(t.model.nv)]
    rows = [[part[r] for part in parts] for r in range(6)]
    return [(Port(name, (6, t.model.nv), unit), [x for row in rows for x in row])]


def frame_jacobian(t: Tracer) -> Results:
    R = t.world_axes()
    J = {k: fm.in_axes(R, s) for k, s in t.frame().columns.items()}
    return columns(t, J, "J", "m, 1")


def frame_jacobian_dot(t: Tracer) -> Results:
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
    return columns(t, rates, "J_dot", "m/s, 1/s")


def center_of_mass(t: Tracer) -> Results:
    c = momentum.center_of_mass(t.model, t.state, t.base, t.setup.base_inertia)
    return nv_array("p", "m", list(c))


def kinetic_energy(t: Tracer) -> Results:
    V = kinematics.twists(t.model, t.state, t.base)
    return [
        (Port("T", (), "J"), [momentum.kinetic_energy(t.model, t.state, V, t.setup.base_inertia)])
    ]


def potential_energy(t: Tracer) -> Results:
    state = t.state
    U = momentum.potential_energy(t.model, state, t.base, t.setup.base_inertia)
    if t.setup.passive:
        U += passive.spring_energy(t.model, state)
        U += force_elements.energy(t.model, state, t.base, t.springs)
    return [(Port("U", (), "J"), [U])]


def total_momentum(t: Tracer) -> Results:
    state, base = t.state, t.base
    V = kinematics.twists(t.model, state, base)
    P = momentum.momentum(t.model, state, V, base, t.setup.base_inertia)
    return nv_array("momentum", "kg m/s, kg m^2/s", list(P))


def centroidal_matrix(t: Tracer) -> Results:
    rows = momentum.centroidal_matrix(t.model, t.state, t.base, t.setup.base_inertia)
    return [(Port("A", (6, t.model.nv), "kg m, kg m^2"), [x for row in rows for x in row])]


def regressor_matrix(t: Tracer) -> Results:
    rows = regressor.regressor(t.model, t.state, t.a, t.base)
    return matrix("Y", "N m/kg, N m/(kg m), 1/s^2", rows)


def body_wrenches(t: Tracer) -> dict[int, Wrench]:
    """What each body gets through its joint, with what closed loops exert on it."""
    loads = dict(t.wrenches)
    for i, F in t.loop_wrenches.items() if "multipliers" in t.numbers else ():
        loads[i] = loads.get(i, Wrench()) + F
    return reactions.body_wrenches(t.model, t.state, t.a, t.base, loads)


def joint_wrench_of(t: Tracer, name: str, F: Mapping[int, Wrench]) -> Wrench:
    """Wrench in a joint of the tree, or in a cut one."""
    for body in t.model:
        if body.description.name == name:
            return reactions.joint_wrench(t.model, t.state, body, F[body.index])
    first = 0
    for c in t.setup.closures:
        count = ROWS[c.kind]
        if c.name == name:
            lam = t.numbers["multipliers"][first : first + count]
            return closure_wrenches(t.model, t.state, c, lam)[2] + friction_in_cut(t, c)
        first += count
    raise KeyError(name)


def friction_in_cut(t: Tracer, c: Closure) -> Wrench:
    """Friction of a cut joint on its successor, in the frame that its user gave there."""
    if not t.setup.passive:
        return Wrench()
    speed = t.setup.friction_speed
    return c.X_UG.wrench_out(cut_friction.friction_in_joint(t.model, t.state, c, speed))


def wrench_rows(name: str, rows: Sequence[Wrench]) -> Results:
    return [(Port(name, (len(rows), 6), "N, N m"), [x for row in rows for x in row])]


def joint_wrenches(t: Tracer) -> Results:
    F = body_wrenches(t)
    rows = [joint_wrench_of(t, name, F) for name in t.options["joints"]]
    # on a floating base the world exerts what the generalised forces of the base are
    root = F[BASE] if not t.setup.floating else F[0]
    return wrench_rows("wrenches", [*rows, root])


def joint_wrench_parts(t: Tracer) -> Results:
    """What motors give, and what damping and friction take, of each joint's wrench."""
    state = t.state
    F = body_wrenches(t)
    motors, passives = [], []
    bodies = {body.description.name: body for body in t.model}
    for name in t.options["joints"]:
        body = bodies.get(name)
        if body is None:  # a cut joint has no motor
            cut = next(c for c in t.setup.closures if c.name == name)
            motors.append(Wrench())
            passives.append(friction_in_cut(t, cut))
            continue
        S = reactions.joint_axes(t.model, state, body)
        wrench = reactions.joint_wrench(t.model, state, body, F[body.index])
        own = t.passive_of(body)
        forces = [s.dot(wrench) - p for s, p in zip(S, own, strict=True)]
        motors.append(reactions.along_axes(S, forces))
        passives.append(reactions.along_axes(S, own))
    return [*wrench_rows("motor", motors), *wrench_rows("passive", passives)]
