"""Programs as Python code: the same numbers as node by node."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.python_code import PythonCode


@pytest.mark.parametrize("name", ["stewart", "palletizer"])
def test_it_computes_what_the_program_says(name: str) -> None:
    robot = rd.load(name)
    program = robot.function("loop_bias").program
    code = PythonCode(program)
    q, v = np.random.default_rng(1).normal(size=(2, 3, robot.nq))
    v = v[:, : robot.nv]
    for given in ((q[0], v[0]), (q[1], v[1]), (q, v), (q[:, None], v)):
        (wanted,), (found,) = evaluate(program, *given), code(*given)
        assert found.shape == wanted.shape
        assert np.array_equal(found, wanted)
