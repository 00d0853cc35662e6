"""Programs in graphs with other constants, as of controllers with other gains."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph
from robodyn.symbolic.scalar import Scalar, inputs


class PlainGraph(Graph):
    """A graph that keeps nothing of others."""

    def inlined(self, program, numbers):
        return inline(program, numbers)


def written(graph, program, constants, shape):
    """A program of inputs that constants enter, as gains enter what a robot is asked for."""
    x = inputs(graph, 0, 6)
    for k, (c, kind) in enumerate(zip(constants, shape, strict=True)):
        x[k] = (x[k] * c, x[k] + c, x[k] + c * x[-1], c, x[k])[kind]
    edges = [y.edge if isinstance(y, Scalar) else y for y in graph.inlined(program, x)]
    return edges, graph.op, graph.a, graph.b, graph.value, graph.known


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_they_are_as_if_written_down_anew(name):
    program = rd.load("double_pendulum").function(name).program
    own = [*program.graph.value.values()]
    rng = np.random.default_rng(3)
    shapes = [rng.integers(0, 5, 6).tolist() for _ in range(4)]
    for _ in range(60):  # often constants of the program itself, zero and one
        constants = [float(rng.choice([0.0, 1.0, rng.normal(), *own])) for _ in range(6)]
        shape = shapes[rng.integers(4)]
        kept = written(TraceGraph(), program, constants, shape)
        assert kept == written(PlainGraph(), program, constants, shape)
