"""Choices and functions of symbols: values as numpy has them, derivatives on both sides."""

import pickle

import numpy as np
import pytest
from support.functions_of_symbols import EDGES, FUNCTIONS, both, expected_of, program_of

import robodyn as rd
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.python_code import PythonCode
from robodyn.symbolic.scalar import Scalar, edge_of, inputs
from robodyn.symbolic.simplification import simplified
from robodyn.symbolic.symbol_arrays import symbol_array


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_interpreter_has_the_values_of_numpy(kind):
    x, y = (a.astype(kind) for a in both())
    found = evaluate(program_of(FUNCTIONS), x, y, dtype=kind)[0]
    np.testing.assert_array_equal(found, expected_of(FUNCTIONS, x, y))
    assert found.dtype == kind


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("state", [(), (3,)])
def test_python_code_has_the_values_of_numpy(state):
    code = PythonCode(program_of(FUNCTIONS))
    for x, y in zip(*(a[: 3 * (len(a) // 3)].reshape(-1, *state) for a in both()), strict=True):
        np.testing.assert_array_equal(code(x, y)[0], expected_of(FUNCTIONS, x, y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rewriting_keeps_values():
    program = program_of(FUNCTIONS)
    graph = Graph()
    numbers = inline(program, inputs(graph, 0, 2))
    again = Program(
        "f",
        program.inputs,
        program.outputs,
        graph,
        tuple(map(lambda z: edge_of(graph, z), numbers)),
    )
    for other in (
        again,
        simplified(program, lambda p: len(p.live())),
        pickle.loads(pickle.dumps(program)),
    ):
        np.testing.assert_array_equal(*(evaluate(p, *both())[0] for p in (program, other)))
    known = inline(program, [0.25, -2.5])
    assert not any(isinstance(z, Scalar) for z in known)
    np.testing.assert_allclose(
        known, expected_of(FUNCTIONS, np.float64(0.25), np.float64(-2.5)), rtol=1e-15
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_slopes(name):
    program = program_of({name: FUNCTIONS[name]})
    x, y = np.random.default_rng(3).normal(size=(2, 50))
    x = abs(x) + 0.1 if name in ("log", "sqrt") else x
    for k, slope in enumerate(jacobian(program, port) for port in ("x", "y")):
        h = np.array([1e-6, 0.0])[:: -1 if k else 1]
        ahead, back = (evaluate(program, x + s * h[0], y + s * h[1])[0] for s in (1.0, -1.0))
        np.testing.assert_allclose(
            evaluate(slope, x, y)[0], (ahead - back) / 2e-6, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("x", [-2.0, 0.5])
def test_a_magnitude_has_the_derivative_of_a_complex_step(x):
    found = evaluate(one_symbol(abs), np.array(x + 1e-20j))[0]
    assert (found.real, found.imag) == (abs(x), np.copysign(1e-20, x))


def one_symbol(function):
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    return Program("f", (Port("x", ()),), (Port("y", ()),), graph, (edge_of(graph, function(x)),))


@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (lambda x: rd.where(x > 0.0, np.sqrt(x), 0.0), 0.0, 0.0),  # 0 * inf is NaN
        (lambda x: rd.where(x > 0.0, np.log(x), 3.0 * x), 0.0, 3.0),
        (lambda x: rd.where(x > 0.0, x, 1.0 / x) * x, -1.0, 0.0),
        (lambda x: rd.maximum(x, 0.0), -1e-300, 0.0),
        (lambda x: rd.maximum(x, 0.0), 1e-300, 1.0),
        (lambda x: np.clip(2.0 * x, -1.0, 1.0), 0.6, 0.0),
        (lambda x: np.clip(2.0 * x, -1.0, 1.0), 0.4, 2.0),
        (lambda x: rd.minimum(np.exp(1000.0 * x), x), 0.9, 1.0),  # inf on the other side
        (abs, -2.0, -1.0),
        (rd.sign, 0.0, 0.0),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_other_side_cannot_spoil_a_derivative(function, at, slope):
    program = one_symbol(function)
    assert evaluate(jacobian(program, "x"), np.array(at))[0] == slope
    assert np.isfinite(evaluate(program, np.array(at))[0])


def test_one_side_is_no_choice():
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    assert rd.where(x > 0.0, x, x) is x
    assert rd.where(True, x, 0.0) is x and rd.where(np.False_, x, 2.0) == 2.0


def test_second_derivatives():
    program = one_symbol(lambda x: rd.where(x < 0.0, x * x * x, np.arctan2(x, 2.0)))
    second = jacobian(jacobian(program, "x"), "x")
    for x, expected in ((-0.5, -3.0), (0.5, -2.0 * 0.5 * 2.0 / (0.25 + 4.0) ** 2)):
        assert evaluate(second, np.array(x))[0] == pytest.approx(expected, rel=1e-14)


def test_functions_of_numbers_are_those_of_symbols():
    for x in (-0.5, 0.0, 2.5):
        for f in (rd.exp, rd.sinh, rd.cosh, rd.tanh, rd.arctan, rd.sign, rd.tan):
            assert f(x) == pytest.approx(getattr(np, f.__name__)(x), rel=1e-15)
            np.testing.assert_allclose(
                f(np.array([x, 1.0])), getattr(np, f.__name__)([x, 1.0]), rtol=1e-15
            )
    assert rd.maximum(np.nan, 1.0) != rd.maximum(np.nan, 1.0) != rd.minimum(1.0, np.nan)
    assert rd.where(np.array([True, False]), 1.0, np.zeros(2)).tolist() == [1.0, 0.0]
    assert rd.maximum(np.array([1.0, 3.0]), 2.0).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("own", [symbol_array, lambda x: np.array(x, object)])
def test_arrays_of_symbols(own):
    """Arrays that laws are called with know numpy's choices, all others those of robodyn."""
    graph = Graph()
    x = own(inputs(graph, 0, 3))
    a = np.array([1.0, -1.0, 0.5])
    results = [
        rd.where(x[0] > 0.0, x * 2.0, a), rd.maximum(x, a), rd.minimum(0.1, x), rd.tanh(x),
        np.exp(x), np.abs(x), np.arctan2(x, x[::-1]), a * np.cos(x[0]),
        np.array([1.0, x[1], 2.0]) + x,
    ]  # fmt: skip
    if own is symbol_array:
        results += [
            np.where(x > a, x, 0.0), np.where((x > 0.0) & ~(x > 0.5) | (x < -1.0), 1.0, x),
            np.maximum(x, 0.1), np.sign(x), np.clip(x, -0.2, [0.3, 0.2, 0.4]), x.clip(-0.1, 0.1),
        ]  # fmt: skip
        x[1] += 1.0
    else:
        with pytest.raises(TypeError, match=r"rd\.where"):
            np.maximum(x, 0.0)
    program = Program("f", (Port("x", (3,)),), (Port("y", (len(results), 3)),), graph,
                      tuple(edge_of(graph, z) for row in results for z in row))  # fmt: skip
    for n in np.random.default_rng(0).normal(size=(20, 3)):
        expected = [
            n * 2.0 if n[0] > 0.0 else a, np.maximum(n, a), np.minimum(n, 0.1), np.tanh(n),
            np.exp(n), abs(n), np.arctan2(n, n[::-1]), a * np.cos(n[0]),
            np.array([1.0, n[1], 2.0]) + n,
        ]  # fmt: skip
        if own is symbol_array:
            expected += [
                np.where(n > a, n, 0.0), np.where((n > 0.0) & ~(n > 0.5) | (n < -1.0), 1.0, n),
                np.maximum(n, 0.1), np.sign(n),
                np.clip(n, -0.2, [0.3, 0.2, 0.4]), n.clip(-0.1, 0.1),
            ]  # fmt: skip
        np.testing.assert_allclose(evaluate(program, n)[0], expected, rtol=1e-14)


@pytest.mark.parametrize(
    "decides",
    [
        lambda x: 1.0 if x > 0.0 else 0.0,
        lambda x: max(x, 0.0),
        lambda x: x > 0.0 and x < 1.0,
        lambda x: float(x),
        lambda x: np.maximum(np.array([x, x]), 0.0),
    ],
)
def test_what_needs_numbers_is_refused_with_what_to_take(decides):
    with pytest.raises(TypeError, match=r"Take rd\.where\(x < y, a, b\) instead of if"):
        one_symbol(decides)


def test_edges_are_tried():
    assert {0.0, np.inf, -np.inf} <= {*EDGES} and np.isnan(EDGES).any() and np.signbit(EDGES).any()


def test_named_numbers_keep_their_names():
    x = rd.symbol("x", 0.5)
    for f in (np.exp, rd.log, np.tanh, lambda z: rd.arctan2(1.0, z), lambda z: rd.maximum(z, 0.1)):
        made, graph = f(x), Graph()
        assert made.named() == [("x", 0.5)] and float(made) == f(0.5)
        (y,) = inputs(graph, 0, 1)
        edge = edge_of(graph, made.of({"x": y}))
        ports = (Port("x", ()),), (Port("y", ()),)
        found = evaluate(Program("f", *ports, graph, (edge,)), np.array(1.5))[0]
        assert found == pytest.approx(f(1.5), rel=1e-15)


def test_lists_are_arrays():
    """Not objects that are true, or that are compared by their first numbers."""
    assert rd.where([True, False], [1.0, 2.0], (3.0, 4.0)).tolist() == [1.0, 4.0]
    assert rd.maximum([1.0, 2.0], [2.0, 1.0]).tolist() == [2.0, 2.0]
    assert rd.minimum((1.0, 2.0), 1.5).tolist() == [1.0, 1.5]
    assert rd.sign([-2.0, 3.0]).tolist() == [-1.0, 1.0]
    assert rd.sqrt([4.0, 9.0]).tolist() == [2.0, 3.0]
    assert rd.arctan2([0.0], 1.0).tolist() == [0.0]
    force = rd.Force(lambda q, v, t: rd.where([q[0] > 0.0], [1.0], (3.0,)), joint="elbow")
    robot = rd.load("double_pendulum", forces=[force], gravity=(0, 0, 0))
    for angle, expected in ((-1.0, 3.0), (1.0, 1.0)):
        assert robot.inverse_dynamics([0.0, angle], [0, 0], [0, 0])[1] == -expected
