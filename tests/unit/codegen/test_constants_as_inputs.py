"""Programs that differ by numbers alone share their machine code."""

import pickle

import numpy as np
import pytest

import robodyn as rd
from robodyn.codegen import constants_as_inputs
from robodyn.codegen.constants_as_inputs import ConstantsAsInputs, function_of
from robodyn.codegen.shared import SharedCode
from robodyn.controllers import ComputedTorque, SineReference
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import inputs


@pytest.fixture
def made(monkeypatch):
    """Programs that are compiled, from nothing known on."""
    found = []

    def plain(program):
        found.append(program.name)
        return rd.Function(program)

    def general(program):
        found.append(program.name)
        return SharedCode(program)

    code = ConstantsAsInputs(plain, general, "numbers", common=True)
    monkeypatch.setattr(constants_as_inputs, "_FUNCTIONS", code)
    return found


def loaded(robot, mass):
    turn = rd.Inertia.from_matrix(mass, (0.0, 0.02, 0.1), 0.01 * np.eye(3))
    return robot.with_(payload={robot.link_names[-1]: turn})


@pytest.mark.parametrize("name", ["four_bar", "scara"])
def test_steps_and_closed_loops_of_copies_share_code(name, made):
    robot = rd.load(name)
    q, v = robot.random(3), np.zeros(robot.nv)
    wave = SineReference(q, 0.1 * np.ones(robot.nq), np.ones(robot.nq))
    for k, mass in enumerate((1.0, 1.5, 0.7, 3.0, 2.2)):
        copy = loaded(robot, mass)
        step = rd.step_function(copy, step=1e-2)
        for found, expected in zip(step(0.0, q, v), step_of(copy, q, v), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
        law = ComputedTorque(copy, wave, stiffness=20.0 + k)
        whole = rd.closed_loop(copy, law)
        a = copy.forward_dynamics(q, v, law(0.2, q, v))
        np.testing.assert_allclose(whole(0.2, q, v), a, rtol=1e-9, atol=1e-9)
    assert max(map(made.count, ("step", "closed_loop"))) <= 3  # places differ once they differed


def step_of(robot, q, v):
    run = rd.simulate(robot, q0=q, v0=v, duration=1e-2, step=1e-2, limits="ignore")
    return run.q[-1], run.v[-1]


def test_derivatives_of_quaternions_of_shared_code(made):
    robot = rd.load("scara", base="floating")
    q, v = robot.random(3), np.random.default_rng(3).uniform(-1.0, 1.0, robot.nv)
    for mass in (1.0, 2.0, 3.0):
        copy = loaded(robot, mass)
        f = rd.step_function(copy, step=1e-2, integrator="euler")
        alone = rd.Function(f.program)
        many = np.stack([q, q]), np.stack([v, -v])
        for found, expected in zip(f(0.0, *many), alone(0.0, *many), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11)
        single = [x.astype(np.float32) for x in (np.zeros(()), q, v)]
        for found, expected in zip(f(*single), f(0.0, q, v), strict=True):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-4)
    slopes, expected = f.jacobian("v"), alone.jacobian("v")
    for x, y in zip(slopes(0.0, q, v), expected(0.0, q, v), strict=True):
        assert x.shape[-1] == robot.nv
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-10)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(again(0.0, q, v)[1], f(0.0, q, v)[1], rtol=0.0, atol=1e-11)
    assert f.c_source("step") == alone.c_source("step")


def line(slope, offset, rates):
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    y = x * slope + offset
    ports = (Port("x", (1,)),), (Port("y", (1,)),)
    return Program("line", *ports, graph, (y.edge,), rates)


def test_other_rates_are_other_functions(made):
    """They look the same, but their derivatives are along other speeds."""
    found = []
    for factor in (2.0, 3.0, 4.0, 3.0):
        graph = Graph()
        inputs(graph, 0, 1)
        rate = Program(
            "rate", (Port("x", (1,)),), (Port("y", (1, 1)),), graph, (graph.constant(factor),)
        )
        found.append(float(function_of(line(5.0, 7.0, {"x": rate})).jacobian("x")([1.0])[0, 0]))
    assert found == [10.0, 15.0, 20.0, 15.0]


def test_numbers_that_vanish_or_change_their_sign(made):
    for slope, offset in ((2.0, 3.0), (2.5, 0.0), (-2.5, 3.0), (1.0, -1.0), (4.0, 5.0)):
        assert function_of(line(slope, offset, {}))([10.0])[0] == 10.0 * slope + offset


def test_numbers_that_once_differed_are_given_from_then_on(made):
    for slope, offset in ((2.0, 3.0), (2.5, 3.0), (2.0, 5.0), (4.0, 6.0), (2.5, 3.0)):
        assert function_of(line(slope, offset, {}))([10.0])[0] == 10.0 * slope + offset
    assert len(made) == 3


def test_an_input_that_follows_the_numbers_keeps_its_own():
    code = ConstantsAsInputs(rd.Function, rd.Function, "constants", before="state")
    for slope, offset in ((2.0, 3.0), (2.5, 4.0), (3.0, 5.0)):
        graph = Graph()
        x, *state = inputs(graph, 0, 3)
        edges = (((x * slope + offset) * state[0] + state[1]).edge,)
        ports = (Port("x", (1,)), Port("state", (2,))), (Port("y", (1,)),)
        function, numbers = code.of(Program("law", *ports, graph, edges))
        given = [[10.0], numbers, [7.0, 0.5]] if len(numbers) else [[10.0], [7.0, 0.5]]
        assert function(*given)[0] == (10.0 * slope + offset) * 7.0 + 0.5


def test_other_results_of_the_same_operations_are_other_functions(made):
    for offset in (3.0, 4.0, 5.0):
        graph = Graph()
        (x,) = inputs(graph, 0, 1)
        product = x * 2.0
        total = product + offset
        for result, expected in ((product, 20.0), (total, 20.0 + offset)):
            program = Program("line", (Port("x", (1,)),), (Port("y", (1,)),), graph, (result.edge,))
            assert function_of(program)([10.0])[0] == expected
