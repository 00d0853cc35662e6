"""Methods of robots called with symbols: the same equations, as a part of others."""

import numpy as np
import pytest
from support.bundled import bundled
from support.random_mechanisms import awkward_mechanism

import robodyn as rd
from robodyn.codegen.calls.trace_graph import TraceGraph, symbols
from robodyn.controllers import SymbolicCost, iterative_lqr
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import edge_of

#: Methods of one frame, and what they are given besides it.
OF_FRAMES = {
    "frame_pose": ("q",),
    "frame_twist": ("q", "v"),
    "frame_acceleration": ("q", "v", "a"),
    "frame_jacobian": ("q",),
    "frame_jacobian_dot": ("q", "v"),
}
OTHERS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "mass_matrix": ("q",),
    "mass_matrix_inverse": ("q",),
    "coriolis_matrix": ("q", "v"),
    "bias_forces": ("q", "v"),
    "gravity_forces": ("q",),
    "passive_forces": ("q", "v"),
    "center_of_mass": ("q",),
    "momentum": ("q", "v"),
    "centroidal_matrix": ("q",),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "elastic_energy": ("q",),
    "frame_poses": ("q",),
    "frame_twists": ("q", "v"),
    "frame_jacobians": ("q",),
    "regressor": ("q", "v", "a"),
    "integrate": ("q", "v"),
    "difference": ("q", "q"),
}


def traced(function, *sizes):
    """A function of arrays, called once with symbols, as compiled code."""
    graph, ports, given, first = TraceGraph(), [], [], 0
    for k, n in enumerate(sizes):
        ports.append(Port(f"x{k}", (n,)))
        given.append(symbols(graph, first, n))
        first += n
    result = np.asarray(function(*given), object)
    edges = tuple(edge_of(graph, x) for x in result.flat)
    return rd.Function(
        Program("traced", tuple(ports), (Port("result", result.shape),), graph, edges)
    )


def a_state(robot, rng):
    q, v, a, tau = robot.random(rng), *rng.normal(size=(3, robot.nv))
    if robot.nc:
        v = robot.consistent_velocity(q, v)
        a = robot.consistent_acceleration(q, v, a)
    return {"q": q, "v": v, "a": a, "tau": tau}


def close(found, expected):
    assert found.shape == np.shape(expected)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize(
    "what", [pytest.param("awkward", marks=pytest.mark.slow), "delta", "satellite"]
)
def test_methods_over_symbols_are_those_over_numbers(what):
    rng = np.random.default_rng(3)
    robot = rd.load(awkward_mechanism(rng) if what == "awkward" else what)
    state, frame = a_state(robot, rng), robot.link_names[-1]
    for name, inputs in {**OF_FRAMES, **OTHERS}.items():
        options = {"frame": frame} if name in OF_FRAMES else {}
        method, arrays = getattr(robot, name), [state[x] for x in inputs]
        f = traced(lambda *x, m=method, o=options: m(*x, **o), *map(len, arrays))
        close(f(*arrays), method(*arrays, **options))


def test_options_wrenches_and_numbers_beside_symbols():
    robot, rng = bundled("arm7"), np.random.default_rng(1)
    state, wrench = a_state(robot, rng), rng.normal(size=6)
    q, v, a, frame = *(state[x] for x in "qva"), robot.link_names[-1]
    f = traced(lambda a, w: robot.inverse_dynamics(q, v, a, wrenches={frame: w}), robot.nv, 6)
    close(f(a, wrench), robot.inverse_dynamics(q, v, a, wrenches={frame: wrench}))
    form = {"relative_to": robot.link_names[2], "axes": "world", "classical": True}
    f = traced(lambda a: robot.frame_acceleration(q, v, a, frame, **form), robot.nv)
    close(f(a), robot.frame_acceleration(q, v, a, frame, **form))
    f = traced(lambda a: robot.driven_dynamics(q, v, a, v[1:], (2,))[1], 1)
    close(f(a[:1]), robot.driven_dynamics(q, v, a[:1], v[1:], (2,))[1])
    names = robot.link_names[3:5]
    f = traced(lambda q: robot.frame_poses(q, names), robot.nq)
    close(f(q), robot.frame_poses(q, names))
    f = traced(lambda q: robot.function("mass_matrix")(q), robot.nq)
    close(f(q), robot.mass_matrix(q))


def test_leading_axes_of_symbols():
    robot, rng = bundled("puma560"), np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 6))
    f = traced(lambda q, v: robot.inverse_dynamics(q, np.stack([v, 2.0 * v]), a), 6, 6)
    close(f(q, v), robot.inverse_dynamics(q, [v, 2.0 * v], a))


def test_bases_and_times_of_symbols():
    robot, rng = rd.load("arm7", base="moving"), np.random.default_rng(5)
    q, v, a, twist, rate = rng.normal(size=(5, 7))
    pose = rd.BaseMotion.from_world((1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.9)).pose

    def torques(q, twist, rate):
        return robot.inverse_dynamics(q, v, a, base=rd.BaseMotion(pose, twist, rate))

    close(traced(torques, 7, 6, 6)(q, twist[:6], rate[:6]), torques(q, twist[:6], rate[:6]))

    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
    engine = rd.load("four_bar", constraints=[clock])
    q = engine.at(0.7).assemble()
    f = traced(lambda q, t: engine.at(t[0]).loop_residual(q), engine.nq, 1)
    close(f(q + 0.1, [0.7]), engine.at(0.7).loop_residual(q + 0.1))


def test_a_force_law_written_over_frames(puma):
    """A spring from the flange to a point of the world, as a controller and as numbers."""
    anchor = np.array([0.5, 0.1, 0.6])

    class Spring:
        symbolic = True

        def __call__(self, t, q, v):
            X = puma.frame_pose(q, "flange")
            J = puma.frame_jacobian(q, "flange", axes="world")[:3]
            return puma.gravity_forces(q) + J.T @ (50.0 * (anchor - X[:3, 3]) - 5.0 * (J @ v))

    class Numeric(Spring):
        symbolic = False

    q0 = puma.neutral() + 0.3
    options = dict(q0=q0, duration=0.2, step=1e-3, limits="ignore")
    runs = [rd.simulate(puma, law(), **options) for law in (Spring, Numeric)]
    close(runs[0].q, runs[1].q)
    assert np.abs(runs[0].q[-1] - q0).max() > 1e-2


def test_a_cost_with_a_term_of_the_end_effector(double):
    tip = double.link_names[-1]
    goal = double.frame_pose([0.9, -0.5], tip)[:3, 3]

    def final(q, v):
        miss = double.frame_pose(q, tip)[:3, 3] - goal
        return 1e3 * (miss @ miss) + v @ v

    cost = SymbolicCost(double, lambda t, q, v, tau: 1e-4 * (tau @ tau), final)
    q, v = np.array([[0.2, 0.4]]), np.array([[0.1, -0.3]])
    found = cost.final_cost(q, v)
    steps = 1e-6 * np.eye(2)
    slopes = [(final(q[0] + d, v[0]) - final(q[0] - d, v[0])) / 2e-6 for d in steps]
    assert np.allclose(found.slope[0, :2], slopes, rtol=1e-6)
    plan = iterative_lqr(double, cost, q0=[0.2, 0.1], duration=1.0, step=0.02)
    assert plan.converged
    assert np.linalg.norm(double.frame_pose(plan.run.q[-1], tip)[:3, 3] - goal) < 0.02


def test_a_constraint_written_over_frames(double):
    """The tip of a pendulum on a vertical line: reaction by the transposed Jacobian."""
    tip = double.link_names[-1]
    x = double.frame_pose([0.4, 0.5], tip)[0, 3]
    line = rd.Constraint("line", lambda q: double.frame_pose(q, tip)[0, 3] - x, double.joint_names)
    robot = rd.load("double_pendulum", constraints=[line])
    q = np.array([0.4, 0.5])
    v = robot.consistent_velocity(q, [1.0, 0.0])
    a = robot.forward_dynamics(q, v, [0.3, -0.2])
    classical = double.frame_acceleration(q, v, a, tip, axes="world", classical=True)
    assert abs(classical[0]) < 1e-9
    left = double.inverse_dynamics(q, v, a) - [0.3, -0.2]
    J = double.frame_jacobian(q, tip, axes="world")[0]
    assert np.abs(left - J * (left @ J) / (J @ J)).max() < 1e-9
    assert np.abs(left).max() > 1e-3


def test_what_symbols_cannot_be_given_to(puma):
    refused = {
        "takes no symbols": lambda q: puma.linearize(q, q, q),
        "or driven_dynamics": lambda q: puma.hybrid_dynamics(q, q, controlled={"joint1": 1.0}),
        "out=": lambda q: puma.frame_pose(q, "flange", out=np.zeros((4, 4))),
        r"expected \(..., 6\)": lambda q: puma.frame_pose(q[:2], "flange"),
        "not finite": lambda q: puma.frame_pose([*q[:5], np.nan], "flange"),
        "real numbers": lambda q: puma.frame_pose([*q[:5], "one"], "flange"),
        "expected 1: q": lambda q: puma.function("mass_matrix")(q, q),
    }
    for message, call in refused.items():
        with pytest.raises(rd.ShapeError, match=message):
            traced(call, 6)
    with pytest.raises(rd.ShapeError, match="different functions"):
        traced(lambda q: traced(lambda p: puma.inverse_dynamics(q, p, p), 6), 6)
    with pytest.raises(rd.ShapeError, match="not an array of real numbers"):
        puma.mass_matrix(np.array([None] * 6, object))
