"""Guards: results that are numbers only where a tested number is not negative."""

import math

import numpy as np
import pytest

from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, if_not_negative, inputs


@pytest.mark.parametrize("of_a_constant", [False, True])
@pytest.mark.parametrize(("test", "good"), [(0.0, True), (2.0, True), (-1e-9, False)])
def test_a_guard_acts_whether_the_test_is_known_or_not(test, good, of_a_constant):
    graph = Graph()
    x, tested = inputs(graph, 0, 2)
    values = if_not_negative([1.5, 2.0 * x], test if of_a_constant else tested)
    edges = tuple(edge_of(graph, value) for value in values)
    program = Program("guarded", (Port("x", (2,)),), (Port("y", (2,)),), graph, edges)
    (found,) = evaluate(program, np.array([3.0, test]))
    assert np.isfinite(found).all() == good
    if good:
        np.testing.assert_array_equal(found, [1.5, 6.0])


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_what_is_no_number_has_no_derivative_by_anything(factor):
    """Not by inputs that the test does not know; and where there are numbers, nothing is added."""
    graph = Graph()
    x, tested = inputs(graph, 0, 2)
    values = if_not_negative([3.0 * x, tested], factor * tested)
    edges = tuple(edge_of(graph, value) for value in values)
    ports = (Port("x", ()), Port("tested", ())), (Port("y", (2,)),)
    for name, expected in (("x", [3.0, 0.0]), ("tested", [0.0, 1.0])):
        slope = jacobian(Program("guarded", *ports, graph, edges), name)
        with np.errstate(invalid="ignore"):
            (good,), (bad,) = (evaluate(slope, np.array(2.0), np.array(z)) for z in (1.5, -1.5))
        assert good.tolist() == expected and np.isnan(bad).tolist() == [True, False]
        again = jacobian(slope, "x")
        with np.errstate(invalid="ignore"):
            assert np.isnan(evaluate(again, np.array(2.0), np.array(-1.5))[0]).any()


def test_a_guard_of_constants():
    assert if_not_negative([1.0, 2.0], 0.5) == [1.0, 2.0]
    assert any(map(math.isnan, if_not_negative([1.0, 2.0], -0.5)))
