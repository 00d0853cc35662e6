"""Programs as Python code: the same numbers as node by node."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.symbolic import python_code
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.python_code import PythonCode
from robodyn.symbolic.scalar import edge_of, inputs, sin


@pytest.mark.parametrize("piece", [10**6, 100])
@pytest.mark.parametrize("name", ["stewart", "palletizer"])
@pytest.mark.parametrize("quantity", ["loop_bias", "loop_jacobian"])  # many of the second are zero
def test_it_computes_what_the_program_says(
    name: str, quantity: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where Python compiles it in pieces."""
    monkeypatch.setattr(python_code, "PIECE", piece)
    robot = rd.load(name)
    program = robot.function(quantity).program
    code = PythonCode(program)
    q, v = np.random.default_rng(1).normal(size=(2, 3, robot.nq))
    v = v[:, : robot.nv]
    for given in ((q[0], v[0]), (q[1], v[1]), (q, v), (q[:, None], v)):
        given = given[: len(program.inputs)]
        (wanted,), (found,) = evaluate(program, *given), code(*given)
        assert found.shape == wanted.shape
        assert np.array_equal(found, wanted)


def test_constants_may_be_numbers_of_numpy() -> None:
    graph = Graph()
    (x,) = inputs(graph, 0, 1)
    edges = (edge_of(graph, x * np.float64(0.3) + sin(x)),)
    code = PythonCode(Program("f", (Port("x", ()),), (Port("y", ()),), graph, edges))
    values = [code(np.array(0.5))[0] for _ in range(2)]
    assert values[0] == values[1] == 0.5 * 0.3 + np.sin(0.5)
