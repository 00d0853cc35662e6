"""Guards: results that are numbers only where a tested number is not negative."""

import math

import numpy as np
import pytest

from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.scalar import edge_of, inputs


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


def test_a_guard_of_constants():
    assert if_not_negative([1.0, 2.0], 0.5) == [1.0, 2.0]
    assert any(map(math.isnan, if_not_negative([1.0, 2.0], -0.5)))
