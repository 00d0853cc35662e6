"""Programs as Python code: the same numbers as node by node."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.python_code import PythonCode


@pytest.mark.parametrize("name", ["stewart", "palletizer"])
@pytest.mark.parametrize("quantity", ["loop_bias", "loop_jacobian"])  # many of the second are zero
def test_it_computes_what_the_program_says(name: str, quantity: str) -> None:
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
