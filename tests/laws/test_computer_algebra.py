"""Functions in CasADi and in SymPy give the numbers and the derivatives of the functions."""

import sys

import numpy as np
import pytest
from support.comparison import close_within

import robodyn as rd
from robodyn.codegen import Function
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs

casadi = pytest.importorskip("casadi")
sympy = pytest.importorskip("sympy")

#: Rounding of the same operations in another order, relative to the largest entry.
close = close_within(1e-11, least=1e-3)


def state(robot, seed=0):
    """Inputs by name; closed linkages are closed."""
    rng = np.random.default_rng(seed)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    if robot.nc:
        q = robot.assemble(q)
        v = robot.consistent_velocity(q, v)
        a = robot.consistent_acceleration(q, v, a)
    return {"q": q, "v": v, "a": a, "tau": rng.normal(size=robot.nv)}


def check(f, given):
    """Values of all outputs, and slopes by all inputs."""
    there = f.casadi()
    wanted, found = f(*given), there(*given)
    if len(f.outputs) == 1:
        wanted, found = (wanted,), (found,)
    for x, y in zip(found, wanted, strict=True):
        close(x.full().reshape(np.shape(y)), y)
    symbols = there.sx_in()
    results = there(*symbols)
    first = results if len(f.outputs) == 1 else results[0]
    for port, symbol in zip(f.inputs, symbols, strict=True):
        slopes = casadi.Function("slopes", symbols, [casadi.jacobian(first.T, symbol.T)])
        if len(f.outputs) == 1:
            exact = np.asarray(f.jacobian(port.name, raw=True)(*given))
            close(slopes(*given).full().reshape(exact.shape), exact)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "scara", "prosthesis"])
@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_numbers_and_slopes(name, quantity):
    robot = rd.load(name)
    f = robot.function(quantity)
    numbers = state(robot)
    check(f, [numbers[port.name] for port in f.inputs])


@pytest.mark.slow
@pytest.mark.parametrize("name", rd.robots())
def test_forward_dynamics_of_all_bundled_robots(name):
    robot = rd.load(name)
    f = robot.function("forward_dynamics")
    numbers = state(robot)
    given = [numbers[port.name] for port in f.inputs]
    close(f.casadi()(*given).full().ravel(), f(*given))


def test_names_and_shapes():
    robot = rd.load("double_pendulum", base="floating")
    f = robot.function("frame_jacobian", frame="lower")
    there = f.casadi()
    assert there.name_in() == [port.name for port in f.inputs]
    assert [there.size_in(k) for k in range(there.n_in())] == [(robot.nq, 1)]
    assert there.size_out(0) == (6, robot.nv)
    pose = robot.function("frame_pose", frame="lower").casadi()
    assert pose.size_out(0) == (4, 4)
    slopes = rd.load("double_pendulum").function("mass_matrix").jacobian("q")
    close(slopes.casadi()([0.3, -0.5]).full().reshape(2, 2, 2), slopes([0.3, -0.5]))


def test_symbols_of_the_description_are_inputs():
    robot = rd.load("scara", symbols={"link forearm mass": "m2", "joint elbow x": "l1"})
    f = robot.function("mass_matrix", symbols=True)
    there = f.casadi()
    assert there.name_in() == ["q", "m2", "l1"]
    close(there(robot.neutral(), 3.0, 0.5).full(), f(robot.neutral(), 3.0, 0.5))


def test_driven_joints():
    f = rd.load("double_pendulum").function("hybrid_dynamics", controlled=("shoulder",))
    rng = np.random.default_rng(1)
    given = [rng.normal(size=port.shape) for port in f.inputs]
    for x, y in zip(f.casadi()(*given), f(*given), strict=True):
        close(x.full().reshape(np.shape(y)), y)


def choices():
    """Every operation of the graph, choices where the other side is no number among them.

    They are a matrix and a vector.
    """
    graph = Graph()
    x, y = inputs(graph, 0, 2)
    results = [
        rd.where(x < 0.0, 2.0 * x, rd.sqrt(x)),
        rd.maximum(x, y) - rd.minimum(x, 0.5) + abs(y) + rd.sign(y),
        rd.sin(x) * rd.cos(y) + rd.exp(x) / rd.cosh(y) - rd.tanh(x) * rd.sinh(y),
        rd.arctan2(y, x) + rd.log(1.0 + x * x) + rd.arctan(x),
        rd.where(x <= y, x, y),
        rd.where(x < y, x, 3.0) + rd.where(y <= x, y, 5.0),
    ]
    edges = tuple(edge_of(graph, value) for value in results)
    ports = (Port("x", (2,)),), (Port("f", (2, 2)), Port("g", (2,)))
    return Function(Program("every operation", *ports, graph, edges))


@pytest.mark.parametrize("x", [(0.7, -0.3), (-0.7, 0.3), (-0.2, -0.2), (0.25, 0.25)])
def test_every_operation(x):
    f = choices()
    there = f.casadi()
    assert there.name() == "every_operation"
    symbol = there.sx_in()[0]
    rows = [casadi.vec(one.T) for one in there(symbol)]
    slopes = casadi.Function("slopes", [symbol], [casadi.jacobian(one, symbol) for one in rows])
    found = f.sympy()
    at = dict(zip(found["x"], x, strict=True))
    parts = zip("fg", f(x), there(x), slopes(x), f.jacobian("x")(x), strict=True)
    for name, value, other, slope, own in parts:
        close(other.full().reshape(value.shape), value)
        if x[0] != x[1]:
            close(slope.full().reshape(own.shape), own)
        close(np.array(found[name].subs(at).evalf(), float).reshape(value.shape), value)


def test_equations_in_sympy(double):
    found = double.function("mass_matrix").sympy()
    q = found["q"]
    assert q.shape == (2, 1)
    M = found["M"]
    assert sympy.simplify(M - M.T) == sympy.zeros(2, 2)
    numbers = M.subs({q[0]: 0.3, q[1]: -0.8}).evalf()
    close(np.array(numbers, float), double.mass_matrix([0.3, -0.8]))
    energy = double.function("potential_energy").sympy()
    (potential,) = (x for name, x in energy.items() if name != "q")
    forces = double.function("gravity_forces").sympy()
    (gravity,) = (x for name, x in forces.items() if name != "q")
    slopes = sympy.Matrix([potential[0].diff(x) for x in energy["q"]])
    at = dict(zip(energy["q"], (0.4, 1.1), strict=True))
    close(np.array(slopes.subs(at), float).ravel(), np.array(gravity.subs(at), float).ravel())


@pytest.mark.parametrize("package", ["casadi", "sympy"])
def test_the_extra_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    f = rd.load("double_pendulum").function("mass_matrix")
    with pytest.raises(rd.MissingExtraError, match=package):
        getattr(f, package)()


@pytest.mark.slow
def test_torques_that_ipopt_finds_for_the_palletizer_move_it_to_its_goal():
    """From rest to rest with least squares of torques, over equations of the closed linkage.

    Dry friction is as smooth as steps are long: otherwise they amplify digits of rounding.
    """
    robot, count, h = rd.load("palletizer", coordinates="minimal", friction_speed=0.2), 16, 0.05
    f = robot.function("forward_dynamics").casadi()
    start, rest = robot.neutral(), np.zeros(4)
    goal = start + np.array([0.3, 0.1, 0.0, 0.1])
    opti = casadi.Opti()
    x, tau = opti.variable(8, count + 1), opti.variable(4, count)

    def rate(x, tau):
        return casadi.vertcat(x[4:], f(x[:4], x[4:], tau))

    for k in range(count):
        k1 = rate(x[:, k], tau[:, k])
        k2 = rate(x[:, k] + h / 2 * k1, tau[:, k])
        k3 = rate(x[:, k] + h / 2 * k2, tau[:, k])
        k4 = rate(x[:, k] + h * k3, tau[:, k])
        opti.subject_to(x[:, k + 1] == x[:, k] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    opti.subject_to(x[:, 0] == [*start, *rest])
    opti.subject_to(x[:, count] == [*goal, *rest])
    opti.minimize(casadi.sumsqr(tau) / 1e4)
    opti.set_initial(tau, np.tile(robot.inverse_dynamics(start, rest, rest), (count, 1)).T)
    opti.set_initial(x[:4, :], np.linspace(start, goal, count + 1).T)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    found = opti.solve()

    table = np.vstack([found.value(tau).T, rest])
    law = rd.controllers.Sampled(lambda t, q, v: table[round(t / h)], period=h)
    options = {"q0": start, "duration": count * h, "integrator": "rk4", "limits": "ignore"}
    run = rd.simulate(robot, law, step=h, **options)
    np.testing.assert_allclose(np.hstack([run.q, run.v]).T, found.value(x), atol=1e-9)
    fine = rd.simulate(robot, law, step=h / 10, **options)
    np.testing.assert_allclose(fine.q[-1], goal, atol=2e-3)
