"""Sums of a finished program: like terms are collected, and the numbers stay what they were."""

import numpy as np
import pytest

from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import by_precision, cos, edge_of, if_not_negative, inputs, sin, sqrt
from robodyn.symbolic.simplification import simplified


def count(program):
    """All operations."""
    return sum(program.operations().values())


def program(equations, size=4):
    """Of results that are computed from so many numbers."""
    graph = Graph()
    results = equations(graph, *inputs(graph, 0, size))
    edges = tuple(edge_of(graph, x) for x in results)
    return Program("f", (Port("x", (size,)),), (Port("y", (len(edges),)),), graph, edges)


def constants(made):
    return sorted(made.graph.value[k] for k in made.live() if k in made.graph.value)


@pytest.mark.parametrize(
    ("equations", "most"),
    [
        (lambda g, x, y, z, w: [x * y + cos(z) + 1.0 - x * y + 2.0], 2),
        (lambda g, x, y, z, w: [((x + y) + z) - (y + w) - (z - w)], 0),  # x
        (lambda g, x, y, z, w: [3.0 * (x * y + 2.0) + (z - 5.0)], 4),  # 3 x y + z + 1
        (lambda g, x, y, z, w: [2.0 * x + (y + 3.0 * x)], 2),  # 5 x + y
        # sums with a name: written out where that is shorter; or where nobody needs them then
        (lambda g, x, y, z, w: [(x + y) * w, (x + y + z) - x, (z + w) - (x + y) + x + y], 4),
        (lambda g, x, y, z, w: [(x + z) + (y - z), ((x + z) - (y - z)) * w], 5),
        (lambda g, x, y, z, w: [x + y, sin(x + y) - 0.5 * (x + y)], 4),  # nothing to collect
        # common factors
        (lambda g, x, y, z, w: [x * y + x * z], 2),
        (lambda g, x, y, z, w: [z * w - x * y + 3.0 * (w - y * z) - w * x], 8),
        (lambda g, x, y, z, w: [sin(x * y) - (w + (x * y - x * z))], 6),  # one is needed elsewhere
    ],
)  # fmt: skip
def test_like_terms_are_collected(equations, most):
    before = program(equations)
    after = simplified(before, count)
    assert count(after) <= most
    x = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_allclose(evaluate(after, x)[0], evaluate(before, x)[0], rtol=0, atol=1e-14)


def test_constants_that_are_rounding_cancel():
    after = simplified(program(lambda g, x, y, z, w: [0.1 + x + 0.2 - 0.3 + y]), count)
    assert count(after) == 1
    assert constants(after) == []


def test_a_floor_of_a_denominator_stays():
    """It is too small to be added to another constant, and keeps the sum from zero."""
    before = program(lambda g, x, y, z, w: [1.0 / (((x + 1.0) - y) + 1e-30)])
    assert simplified(before, count) is before
    single = program(lambda g, x, y, z, w: [1.0 / (((x + 1.0) - y) + 1e-7)])  # the floor of that
    assert simplified(single, count) is single
    larger = program(lambda g, x, y, z, w: [((x + 1.0) - y) + 1e-5])
    assert constants(simplified(larger, count)) == [1.0 + 1e-5]


def test_constants_of_both_precisions_stay():
    before = program(lambda g, x, y, z, w: [((x + 1.0) + by_precision(g, 1e-3, 1e-2)) + y + 2.0])
    after = simplified(before, count)
    assert count(after) == 3
    assert [getattr(x, "single", None) for x in constants(after)] == [1e-2, None]


@pytest.mark.parametrize(
    "multiple", [lambda z: z * 4.0, lambda z: z + z, lambda z: 3.0 * z + z, lambda z: z - 0.5 * z]
)
def test_multiples_keep_constants_of_both_precisions(multiple):
    def equations(g, x, y, z, w):
        allowed = by_precision(g, 1e-3, 1e-2)
        return [multiple((x + 1.0) * allowed)]

    made = program(equations)
    assert [1e-2] == [x.single for x in constants(made) if hasattr(x, "single")]
    assert evaluate(made, np.array([1.0, 0.0, 0.0, 0.0]))[0] == pytest.approx(2e-3 * multiple(1.0))


def test_guards_add_nothing_but_what_they_are():
    """Four times a number has twice its root, exactly, so that zero is added."""

    def equations(g, x, y, z, w):
        (guarded,) = if_not_negative([x * y + z - x * y], w)
        return [guarded + 1.0]

    after = simplified(program(equations), count)
    x = np.abs(np.random.default_rng(1).normal(size=(50, 4))) * [1.0, 1.0, 1.0, 1e20]
    np.testing.assert_allclose(evaluate(after, x)[0], x[:, 2:3] + 1.0, rtol=1e-15)
    with np.errstate(invalid="ignore"):
        assert np.isnan(evaluate(after, x * [1, 1, 1, -1])[0]).all()


def test_sums_of_roots_are_not_moved():
    def equations(g, x, y, z, w):
        return [(x + sqrt(w * w)) - (x + y)]

    before = program(equations)
    assert simplified(before, count) is before


def test_what_is_no_number_stays_so():
    before = program(lambda g, x, y, z, w: [1.0 / ((x + y) + z - (x + z) - y)])
    with np.errstate(all="ignore"):
        assert not np.isfinite(evaluate(simplified(before, count), [1.0, 2.0, 3.0, 4.0])[0])


def test_random_sums_keep_their_values():
    rng = np.random.default_rng(2)
    for _ in range(150):

        def equations(g, *given):
            values = list(given)
            for _ in range(rng.integers(10, 60)):
                x, y = (values[k] for k in rng.integers(max(0, len(values) - 9), len(values), 2))
                i, j = rng.integers(0, 4, 2)
                factor = float(rng.choice([-1.0, 1.0, 2.0, -0.5]))
                new = [x + y, x - y, x * factor + y, x * 0.5 * y, x + factor, given[i] * given[j]]
                new += [x + given[i] * given[j] * factor, y - (x - given[i] * y)]
                values.append(new[rng.integers(len(new))])
            return [*values[-5:], given[0] * values[-6]]

        before = program(equations)
        after = simplified(before, count)
        assert count(after) <= count(before)
        x = rng.normal(size=(10, 4))
        exact = evaluate(before, x.astype(np.longdouble), dtype=np.longdouble)[0]
        tolerance = 1e-12 * np.abs(exact).max(axis=0) + 1e-13
        assert (np.abs(evaluate(after, x)[0] - exact) <= tolerance).all()


def test_numbers_that_are_inputs_are_not_gathered(scara):
    q, v, a = np.random.default_rng(3).normal(size=(3, 4))
    f = scara.function("inverse_dynamics", parameters=True)
    expected = scara.inverse_dynamics(q, v, a)
    rest = f(q, v, a, 0 * scara.inertial_parameters)  # of motors
    found = f(q, v, a, 2 * scara.inertial_parameters) - rest
    np.testing.assert_allclose(found, 2 * (expected - rest), rtol=1e-12, atol=1e-12)
