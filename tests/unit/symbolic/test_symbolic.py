"""Expression graphs: the rules of simplification, and derivatives, against plain arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples

from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Scalar, cos, edge_of, inputs, sin, sqrt
from robodyn.symbolic.spatial import ArticulatedInertia, Placement, RigidInertia, Twist
from robodyn.symbolic.vector import Mat3, Rotation, Sym3, Vec3


def program(function, size):
    """Program of a function of ``size`` numbers that returns a list of numbers."""
    graph = Graph()
    results = function(inputs(graph, 0, size))
    edges = tuple(edge_of(graph, x) for x in results)
    return Program("f", (Port("x", (size,)),), (Port("y", (len(edges),)),), graph, edges)


def values(function, x):
    return evaluate(program(function, len(x)), x)[0]


def test_equal_expressions_are_one_node():
    graph = Graph()
    x, y = inputs(graph, 0, 2)
    assert (x * y).edge == (y * x).edge
    assert (x + y).edge == (y + x).edge
    assert (x - y).edge == (-(y - x)).edge
    assert ((-x) * y).edge == (-(x * y)).edge
    assert sin(-x).edge == (-sin(x)).edge
    assert cos(-x).edge == cos(x).edge


def test_one_symbol_of_an_array_is_a_symbol():
    """``x[..., 0]`` is an array without axes, on either side of an operation."""
    graph = Graph()
    row = np.empty(2, object)
    row[:] = x, y = inputs(graph, 0, 2)
    one = row[..., 0]
    assert one.shape == ()
    for mixed, plain in (
        (y * one, y * x), (one * y, y * x), (y + one, y + x), (y - one, y - x), (one - y, x - y),
        (y / one, y / x), (one / y, x / y), (2.0 * one, 2.0 * x), (sin(y) * one, sin(y) * x),
    ):  # fmt: skip
        assert mixed.edge == plain.edge


def test_zeros_and_ones_disappear():
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    assert x + 0.0 is x
    assert x * 0.0 == 0.0
    assert 0.0 * x == 0.0
    assert (x * 1.0).edge == x.edge
    assert (x * -1.0).edge == (-x).edge
    assert x - x == 0.0
    assert x / x == 1.0
    assert x / -x == -1.0
    assert 0.0 / x == 0.0
    assert ((x * 2.0) * 0.5).edge == x.edge
    assert (x + x).edge == (x * 2.0).edge


OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / (b * b + 1.5),
    "neg": lambda a, b: -a,
    "sin": lambda a, b: sin(a) if isinstance(a, Scalar | float) else np.sin(a),
    "cos": lambda a, b: cos(a) if isinstance(a, Scalar | float) else np.cos(a),
    "sqrt": lambda a, b: (
        sqrt(a * a + 0.5) if isinstance(a, Scalar | float) else np.sqrt(a * a + 0.5)
    ),
}
STEP = st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 30), st.integers(0, 30))
NUMBERS = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=3, max_size=3)
CONSTANTS = [0.0, 1.0, -1.0, 2.0, -0.37]


def run(steps, x):
    known = [*x, *CONSTANTS]
    for name, i, j in steps:
        known.append(OPERATIONS[name](known[i % len(known)], known[j % len(known)]))
    return known[-3:]


@examples(150)
@given(steps=st.lists(STEP, min_size=1, max_size=25), x=NUMBERS)
def test_a_traced_program_computes_what_the_function_does(steps, x):
    plain = run(steps, [float(v) for v in x])
    if not all(math.isfinite(v) and abs(v) < 1e12 for v in plain):
        return
    scale = max(1.0, *map(abs, run_magnitudes(steps, x)))
    np.testing.assert_allclose(values(lambda s: run(steps, s), x), plain, atol=1e-12 * scale)


def run_magnitudes(steps, x):
    known = [*map(float, x), *CONSTANTS]
    for name, i, j in steps:
        known.append(float(OPERATIONS[name](known[i % len(known)], known[j % len(known)])))
    return [v for v in known if math.isfinite(v)]


@examples(80)
@given(steps=st.lists(STEP, min_size=1, max_size=12), x=NUMBERS)
def test_derivative_equals_complex_step(steps, x):
    if max(map(abs, run_magnitudes(steps, x)), default=0.0) > 1e6:
        return
    f = program(lambda s: run(steps, s), 3)
    J = evaluate(jacobian(f, "x"), x)[0]
    h = 1e-30
    for k in range(3):
        step = np.array(x, complex)
        step[k] += 1j * h
        column = evaluate(f, step, dtype=complex)[0].imag / h
        np.testing.assert_allclose(J[:, k], column, rtol=1e-9, atol=1e-9)


def test_derivative_of_an_unknown_input_is_an_error():
    with pytest.raises(KeyError):
        jacobian(program(lambda s: s, 1), "y")


def rotations(angles):
    return (
        Rotation.about(0, angles[0]) @ Rotation.about(1, angles[1]) @ Rotation.about(2, angles[2])
    )


def matrix(R):
    return np.array([list(row) for row in R.matrix.rows()], float)


@pytest.mark.parametrize("seed", range(5))
def test_turning_by_factors_equals_turning_by_the_matrix(seed):
    rng = np.random.default_rng(seed)
    R = rotations([float(a) for a in rng.normal(size=3)])
    R_AB = matrix(R)
    np.testing.assert_allclose(R_AB @ R_AB.T, np.eye(3), atol=1e-15)
    v = rng.normal(size=3)
    np.testing.assert_allclose(list(R * Vec3.of(v)), R_AB @ v, atol=1e-15)
    np.testing.assert_allclose(list(R.inverse_times(Vec3.of(v))), R_AB.T @ v, atol=1e-15)
    M = rng.normal(size=(3, 3))
    turned = np.array(list(R.turn(Mat3(*map(float, M.ravel()))))).reshape(3, 3)
    np.testing.assert_allclose(turned, R_AB @ M @ R_AB.T, atol=1e-14)
    S = M + M.T
    sym = R.turn(Sym3.of(Mat3(*map(float, S.ravel())))).full
    np.testing.assert_allclose(np.array(list(sym)).reshape(3, 3), R_AB @ S @ R_AB.T, atol=1e-14)


def test_a_tiny_turn_is_not_lost():
    """cos is 1 to the last digit, sin is not 0."""
    R = matrix(Rotation.about(2, 9e-10))
    assert R[1, 0] == pytest.approx(9e-10, rel=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_quarter_turns_are_exact(axis):
    R = matrix(Rotation.about(axis, math.pi / 2))
    assert set(np.abs(R).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("seed", range(5))
def test_power_does_not_depend_on_the_frame(seed):
    rng = np.random.default_rng(seed)
    X = Placement(rotations([float(a) for a in rng.normal(size=3)]), Vec3.of(rng.normal(size=3)))
    V = Twist(Vec3.of(rng.normal(size=3)), Vec3.of(rng.normal(size=3)))
    body = RigidInertia(
        1.3, Vec3.of(rng.normal(size=3)), Sym3(*(float(c) for c in rng.uniform(1, 2, size=6)))
    )
    F = body.momentum(X.twist_in(V))
    assert V.dot(X.wrench_out(F)) == pytest.approx(X.twist_in(V).dot(F), rel=1e-12)
    # the body seen from the other frame has the same momentum
    np.testing.assert_allclose(
        list(body.in_parent(X).momentum(V)), list(X.wrench_out(F)), rtol=1e-12
    )
    articulated = ArticulatedInertia.of(body).in_parent(X)
    np.testing.assert_allclose(list(articulated * V), list(X.wrench_out(F)), rtol=1e-12)
    np.testing.assert_allclose(list(X.twist_out(X.twist_in(V))), list(V), rtol=1e-12)
    np.testing.assert_allclose(list(X.wrench_in(X.wrench_out(F))), list(F), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.arcsin, "np.arcsin"),
        (lambda x: np.hypot(x, 1.0), "np.hypot"),
        (lambda x: x**2.5, r"the power 2\.5"),
        (lambda x: x**-1, "the power -1"),
    ],
)
def test_functions_that_symbols_do_not_have_are_named(function, name):
    graph = Graph()
    x = inputs(graph, 0, 1)[0]
    for argument in (x, np.array([x, x])):
        with pytest.raises(TypeError, match=f"^{name} of a symbol: .*sqrt"):
            function(argument)
