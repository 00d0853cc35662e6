"""Chains and trees of many links: the laws of all trees, in time that grows with the links."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.chains import chain, tree

MANY = [
    pytest.param(lambda: chain(300), id="chain300"),
    pytest.param(lambda: tree(510), id="tree510", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("make", MANY)
def test_forward_and_inverse_dynamics_of_many_bodies_agree(make):
    robot, rng = make(), np.random.default_rng(3)
    q, v, tau = rng.uniform(-0.5, 0.5, (3, robot.nv))
    a = robot.forward_dynamics(q, v, tau)
    again = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(again, tau, rtol=0, atol=1e-9 * np.abs(a).max())


def test_all_speeds_of_a_long_chain_move_masses_of_their_own():
    """However much hangs on a joint: else the mass matrix had to show what is left of it."""
    assert not chain(600)._model.bodies.light


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "most"),
    [
        (("chain", "1000", "forward_dynamics"), 500),
        (("tree", "510", "forward_dynamics"), 350),
        (("scissors", "40", "forward_dynamics"), 250),
        (("chain", "120", "mass_matrix"), 320),
    ],
)
def test_memory_stays_small(row, most):
    """Of a process of its own [MB], with nothing on disk; the last column of a row of the table."""
    script = Path(__file__).parents[2] / "benchmarks" / "scale.py"
    command = [sys.executable, str(script), "--row", *row]
    environment = {**os.environ, "ROBODYN_CACHE": "0"}
    found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert int(found.stdout.split("|")[-2]) < most
